@testable import PrefsSupport
import PersistentPreferences
import Testing

/// Two classes with one name, as in two modules.
private enum First {
    final class Settings: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
        @Pref var name = "none"
    }
}

private enum Second {
    final class Settings: RecordingPrefs, @unchecked Sendable {
        @Pref var size = "large"
    }
}

private final class OneWay: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
private final class OtherWay: PersistentPrefs, @unchecked Sendable { @Pref var width = 1.5 }
private final class SameWay: PersistentPrefs, @unchecked Sendable { @Pref var width = 7 }

@Suite struct SharedRootTests {
    @Test func theFirstInstanceOfTheSecondClassReportsIt() throws {
        let store = InMemoryStore()
        let first = First.Settings(store: store)
        let second = Second.Settings(store: store)
        let shared = try #require(second.lastError?.detail(of: PrefsError.sharedRoot), "\(second.outcome)")
        #expect(shared.key == "Settings" && shared.contradictions == ["size"])
        #expect(
            shared.classes.count == 2 && shared.classes[0].hasSuffix("First.Settings")
                && shared.classes[1].hasSuffix("Second.Settings"))
        #expect(second.lastError?.isWarning == true && first.lastError == nil)
        #expect(second.errors.count == 1)
        second.size = "small"
        #expect(second.lastError == nil && second.size == "small", "it is a warning")
        #expect(Second.Settings(store: store).lastError == nil, "reported once")
    }

    private final class Early: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
    private final class Late: PersistentPrefs, @unchecked Sendable { @Pref var width = "1" }

    @Test func theFirstInstanceWithoutAKeyIsCheckedToo() throws {
        let store = InMemoryStore()
        #expect(Late(key: "Other", store: store).lastError == nil)
        #expect(Early(key: "Late", store: store).lastError == nil)
        let shared = try #require(Late(store: store).lastError?.detail(of: PrefsError.sharedRoot))
        #expect(shared.key == "Late" && shared.contradictions == ["width"])
        #expect(Late(store: store).lastError == nil, "reported once")
    }

    private final class Whole: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
    private final class Half: PersistentPrefs, @unchecked Sendable { @Pref var width = "1" }

    @Test func anErrorOfTheFirstAccessRemains() {
        let store = InMemoryStore()
        _ = Whole(key: "Root", store: store)
        let prefs = Half(key: "Root", values: ["width": 5], store: store)
        #expect(prefs.outcome == "width: expected String, found an integer")
    }

    @Test func onlyContradictionsAreReported() throws {
        let folder = try TemporaryFolder()
        func store() -> PropertyListFileStore { PropertyListFileStore(url: folder.file(), durability: .process) }
        #expect(OneWay(key: "Root", store: store()).lastError == nil)
        #expect(SameWay(key: "Root", store: store()).lastError == nil, "the same types")
        let text = OtherWay(key: "Root", store: store()).outcome
        #expect(
            text.hasSuffix(
                "share the root \"Root\", and declare \"width\" with different types; give one of them a root key of its own"
            ))
    }
}
