@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys

struct Count: PrefKey {
    static let stringKey = "count"
    static let defaultValue = 1
}

private struct Flag: PrefKey {
    static let stringKey = "flag"
    static let defaultValue = false
}

/// A `UserDefaults` in memory that can be told to fail, and that notes the locale of the calling thread.
final class TestDefaults: UserDefaults {
    /// The values of other code.
    var registered: [String: Any] = [:]
    var own: [String: Any] = [:]
    /// What the last `synchronize()` that succeeded has stored.
    private(set) var stored: [String: Any] = [:]
    var failure: Failure?
    enum Failure { case withoutStoring, afterStoring }
    /// The calls that ran in the locale of the program.
    private(set) var callsInOwnLocale: Set<String> = []
    private(set) var calls: Set<String> = []
    private let ownLocale = uselocale(nil)

    private func note(_ call: String) {
        calls.insert(call)
        if uselocale(nil) == ownLocale { callsInOwnLocale.insert(call) }
    }

    override func object(forKey key: String) -> Any? {
        note("object")
        return own[key] ?? registered[key]
    }

    override func set(_ value: Any?, forKey key: String) {
        note("set")
        own[key] = value
    }

    override func removeObject(forKey key: String) {
        note("removeObject")
        own[key] = nil
    }

    override func dictionaryRepresentation() -> [String: Any] {
        note("dictionaryRepresentation")
        return registered.merging(own) { $1 }
    }

    override func persistentDomain(forName name: String) -> [String: Any]? {
        note("persistentDomain")
        return name == "DefaultsObjectTests" ? own : nil
    }

    override func synchronize() -> Bool {
        note("synchronize")
        if failure != .withoutStoring { stored = own }
        return failure == nil
    }
}

/// A store over a `UserDefaults` object of the caller. `LocaleTests` and `SurroundingsProcessTests` have the object of Foundation.
@Suite struct DefaultsObjectTests {
    let defaults: TestDefaults

    init() throws { defaults = try #require(TestDefaults(suiteName: "DefaultsObjectTests")) }

    @Test func aRejectedWriteIsNeitherReadNorStoredLater() throws {
        defaults.registered = ["count": 6]
        #expect(Count.get(defaults) == 6)
        #expect(Count.set(2, defaults) == nil && Flag.set(true, defaults) == nil)
        defaults.failure = .withoutStoring
        let rejection = "UserDefaults could not be synchronized; the stored state is unchanged"
        #expect(Count.set(7, defaults).map { "\($0)" } == rejection && Count.get(defaults) == 2)
        #expect(Count.reset(defaults).map { "\($0)" } == rejection && Count.get(defaults) == 2)
        defaults.failure = nil
        #expect(Flag.reset(defaults) == nil)
        #expect(exactForm(defaults.stored) == "{'count': 2}")
        #expect(Count.reset(defaults) == nil)
        defaults.failure = .withoutStoring
        #expect(Count.set(7, defaults) != nil && Count.get(defaults) == 6)
        #expect(defaults.own.isEmpty, "a registered default is not stored")
    }

    /// A new value, a changed one and a removed one, each in a root of its own, in one update.
    @Test func everyValueOfARejectedUpdateIsTakenBack() {
        let store = DefaultsObjectStore.of(defaults)
        let prefs = ["One", "Other", "Third"].map { AnyPrefs(key: $0, store: store) }
        (prefs[0]["a"], prefs[1]["a"]) = (1, 2)
        let before = exactForm(defaults.own)
        defaults.failure = .withoutStoring
        let result = prefs[0].update {
            (prefs[0]["a"], prefs[2]["b"]) = (5, 6)
            prefs[1].deleteRoot()
        }
        #expect(result.failure?.detail(of: PrefsError.notStored) != nil)
        #expect(exactForm(defaults.own) == before && prefs.map(\.ints) == [["a": 1], ["a": 2], [:]])
    }

    /// With a second store of the same object, an update of one would not exclude an update of the other.
    @Test func eachObjectHasOneStore() throws {
        let other = try #require(TestDefaults(suiteName: "DefaultsObjectTests"))
        let (one, two) = (DefaultsObjectStore.of(defaults), DefaultsObjectStore.of(other))
        #expect(one.roots !== two.roots)
        #expect(
            DefaultsObjectStore.of(defaults).roots === one.roots && DefaultsObjectStore.of(other).roots === two.roots)
        #expect(DefaultsObjectStore.of(.standard).roots === PrefsStore.standard.roots)
    }

    /// `synchronize()` fails for any suite of the process, so this suite may be stored.
    @Test func aRejectedWriteThatWasStoredIsTakenBack() {
        #expect(Count.set(2, defaults) == nil)
        defaults.failure = .afterStoring
        #expect(Count.set(7, defaults) != nil && Count.get(defaults) == 2)
        #expect(exactForm(defaults.stored) == "{'count': 2}")
    }
}
