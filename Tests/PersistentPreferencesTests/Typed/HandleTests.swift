@testable import PrefsSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

private struct Point: Codable, Equatable {
    var x = 0
    var y = 0
}

private final class HandledPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(0...1_000_000)) var number = 7
    @Pref("Own Key") var text: String? = nil
    @Pref var point = Point(x: 1)
    @Pref var min = 0
    @Pref var max = 0
    @Pref var list: [Int] = []
    @Pref var fallback: Int? = 3
}

@Suite struct HandleTests {
    private let file = TypedFile.empty
    private let prefs: HandledPrefs

    init() { prefs = HandledPrefs(key: TypedFile.root, store: file.store) }

    @Test func aHandleIsTheProperty() throws {
        let number = prefs.$number
        #expect(number.key == "number" && number.defaultValue == 7 && number.value == 7)
        #expect(!number.isSet && number.isDefault)
        #expect(number.set(7) == nil && number.isSet && number.isDefault)
        #expect(number.set(8) == nil && number.isSet && !number.isDefault)
        #expect(number.value == 8 && prefs.number == 8)
        #expect(number.reset() == nil && number.reset() == nil)
        #expect(!number.isSet && number.isDefault && prefs.number == 7)
        #expect(try file.stored == exactly([:]))

        #expect(prefs.$point.isDefault && prefs.$point.set(Point(x: 1, y: 0)) == nil && prefs.$point.isDefault)
        prefs.point.y = 2
        #expect(!prefs.$point.isDefault && prefs.$point.value == Point(x: 1, y: 2))

        let text = prefs.$text
        #expect(text.key == "Own Key" && text.defaultValue == nil && text.isDefault)
        #expect(text.set("") == nil && text.isSet && !text.isDefault)
        #expect(text.set(nil) == nil && !text.isSet && text.isDefault)
        prefs.fallback = nil
        #expect(prefs.fallback == 3 && !prefs.$fallback.isSet)
    }

    @Test func aHandleSpeaksForItsInstance() {
        let other = HandledPrefs(key: "Other", store: file.store)
        prefs.$number.set(100)
        other.$number.set(200)
        #expect(prefs.number == 100 && other.number == 200)
        let moved = prefs.$number
        prefs.key = "Other"
        #expect(moved.value == 200)
        prefs.key = TypedFile.root
        #expect(moved.value == 100)
    }

    @Test func anInstanceLivesAsLongAsItsHandle() {
        weak var instance: HandledPrefs?
        do {
            let handle = {
                let prefs = HandledPrefs(key: TypedFile.root, store: file.store)
                instance = prefs
                return prefs.$number
            }()
            #expect(handle.set(1) == nil && handle.value == 1)
        }
        #expect(instance == nil)
    }

    @Test func typedWritesInAnUpdateAreOneCommit() throws {
        let system = RecordingSystemCalls()
        system.flushes = false
        let store = PropertyListFileStore(url: file.folder.file("recorded"), system: system)
        let prefs = HandledPrefs(key: TypedFile.root, store: store)
        let other = HandledPrefs(key: "Other", store: store)
        func replacements(_ body: () -> Void) -> Int {
            _ = system.takeCalls()
            body()
            return system.takeCalls().count { $0 == "rename" }
        }
        // The first commit also renames the last good copy.
        #expect(replacements { prefs.min = 0 } == 2)
        #expect(replacements { prefs.min = 1 } == 1)
        var error: PrefsError?
        let count = replacements {
            error = prefs.update {
                prefs.min = 2
                prefs.max = 9
                prefs.min += prefs.max
                prefs.list.append(1)
                prefs.point.x = 5
                other.number = 3
                prefs.$text.set("a")
                prefs.$text.reset()
            }
        }
        #expect(error == nil && count == 1)
        #expect(prefs.min == 11 && prefs.max == 9 && prefs.list == [1] && prefs.point.x == 5 && other.number == 3)
        #expect(replacements { prefs.update { prefs.min = 11 } } == 0)
        func changeAndBack() {
            prefs.min = 1
            prefs.min = 11
        }
        #expect(replacements { prefs.update(changeAndBack) } == 0)
        #expect(replacements { prefs.max = 9 } == 0)
        #expect(replacements { prefs.point = prefs.point } == 0)
        #expect(replacements { prefs.$text.reset() } == 0)
        #expect(replacements { prefs.list = prefs.list } == 0)
    }
}
