import Foundation
import PersistentPreferences
import Testing

/// Immutable, as a class has to be whose objects a coding makes.
private final class Color: Codable, Sendable {
    let name: String

    init(_ name: String) { self.name = name }
}

private let coding = PrefCoding<Color>(encode: { $0.name }, decode: { ($0 as? String).map(Color.init) })

private final class ColorPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(coding: coding) var ink = Color("black")
}

/// Objects of classes in values.
@Suite struct SharedObjectTests {
    /// A coding makes one object of each stored value, for all readers.
    @Test func readersShareWhatACodingHasMade() {
        let prefs = ColorPrefs(store: InMemoryStore())
        #expect(prefs.ink === prefs.ink && prefs.ink === prefs.$ink.defaultValue)
        prefs.ink = Color("red")
        let red = prefs.ink
        #expect(red.name == "red" && prefs.ink === red)
        prefs.ink = Color("blue")
        #expect(prefs.ink.name == "blue" && red.name == "red" && prefs.lastError == nil)
    }

    /// What the compiler cannot reject.
    @Test func aClassWithoutACodingStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            final class Holder: PersistentPrefs, @unchecked Sendable {
                @Pref var colors: [Color] = []
            }
            _ = Holder(store: InMemoryStore()).colors
        }
        await #expect(processExitsWith: .failure) {
            @AppSetting("color", store: InMemoryStore()) var color: Color? = nil
            _ = color
        }
    }
}
