import Foundation
import PersistentPreferences
import PrefsKeys
import Testing

/// Immutable, as required of a class whose objects a coding makes.
private final class Color: Codable, Sendable {
    let name: String

    init(_ name: String) { self.name = name }
}

private let coding = PrefCoding<Color>(encode: { $0.name }, decode: { ($0 as? String).map(Color.init) })

private final class ColorPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(coding: coding) var ink = Color("black")
    @Pref var any: [Any] = [NSMutableArray(array: ["a"])]
    @Pref var named: [String: Any]? = ["k": NSMutableArray(array: ["a"])]
}

@Suite struct SharedObjectTests {
    /// A coding makes one object of each stored value, for all readers.
    @Test func readersShareWhatACodingHasMade() {
        let prefs = ColorPrefs(store: .memory())
        #expect(prefs.ink === prefs.ink && prefs.ink === prefs.$ink.defaultValue)
        prefs.ink = Color("red")
        let red = prefs.ink
        #expect(red.name == "red" && prefs.ink === red)
        prefs.ink = Color("blue")
        #expect(prefs.ink.name == "blue" && red.name == "red" && prefs.lastError == nil)
    }

    /// A change inside an object of a default would not be stored.
    @Test func aDefaultOfAnyValuesIsACopy() {
        let prefs = ColorPrefs(store: .memory())
        @AppSetting("any", store: .memory()) var setting: [Any] = [NSMutableArray(array: ["a"])]
        for value in [prefs.any.first, prefs.$any.defaultValue.first, prefs.named?["k"], setting.first] {
            (value as? NSMutableArray)?.add("b")
        }
        #expect(prefs.any as? [[String]] == [["a"]] && prefs.named as? [String: [String]] == ["k": ["a"]])
        #expect(prefs.$any.defaultValue as? [[String]] == [["a"]] && setting as? [[String]] == [["a"]])
    }

    private static let reason = "cannot be stored: make it Codable, use a struct instead of a class, or give a coding"

    /// Uses of a class that the compiler cannot reject.
    private static let uses: KeyValuePairs<String, @Sendable () -> Any> = [
        "a list": {
            final class Holder: PersistentPrefs, @unchecked Sendable { @Pref var colors: [Color] = [] }
            return Holder(store: .memory()).colors
        },
        "an optional": {
            final class Holder: PersistentPrefs, @unchecked Sendable { @Pref var color: Color? = nil }
            return Holder(store: .memory()).color as Any
        },
        "a dictionary in a setting": {
            @AppSetting("colors", store: .memory()) var colors: [String: [Color]] = [:]
            return colors
        },
        "a setting": {
            @AppSetting("color", store: .memory()) var color: Color? = nil
            return color as Any
        },
    ]

    @Test(arguments: uses.map(\.key)) func aClassWithoutACodingStopsTheProgram(_ use: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [use] in
            _ = Self.uses.first { $0.key == use }?.value()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains(Self.reason), "\(text)")
    }
}
