@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys

private struct outer: PrefKey { static let defaultValue = 1 }

private enum Space {
    struct inner: PrefKey { static let defaultValue = 1 }
}

private struct Generic<First, Second>: PrefKey { static var defaultValue: Int { 1 } }

/// A key that records its errors.
private struct picky: PrefKey {
    static let defaultValue = 1
    static let told = Failures()
    static func didFail(_ error: PrefsError) { told.add("\(error)") }
}

extension AppSettingsValues {
    fileprivate var picky: Int {
        get { self[PrefsKeysTests.picky.self] }
        set { self[PrefsKeysTests.picky.self] = newValue }
    }
}

@Suite struct PrefKeyTests {
    @Test func aKeyIsTheNameOfItsType() {
        struct local: PrefKey { static let defaultValue = 1 }
        #expect(outer.stringKey == "outer" && Space.inner.stringKey == "inner" && local.stringKey == "local")
        #expect(Generic<Int, [String]>.stringKey == "Generic<Int, Array<String>>")
    }

    @Test(arguments: [
        ("hasWidgets #1", "hasWidgets"), ("hasWidgets #12", "hasWidgets"), ("hasWidgets", "hasWidgets"),
        ("Generic<Int, String>", "Generic<Int, String>"), ("hash #", "hash #"), ("a#1", "a#1"),
    ])
    func theMarkOfOlderCompilersIsStripped(_ name: String, _ key: String) {
        #expect(PrefKeyName.stripped(name) == key)
    }

    private struct profiled: PrefKey {
        static let defaultValue = 1
        static let profile = Locked("a")
        static var stringKey: String { "size of " + profile.withLock { $0 } }
    }

    private enum One {
        struct size: PrefKey { static let defaultValue = 1 }
    }

    private enum Two {
        struct size: PrefKey { static let defaultValue = 2 }
    }

    /// In two files of an app, for example.
    @Test func twoKeysOfOneNameHaveTheirOwnDefaults() {
        let values = AppSettingsValues(store: .memory(), root: "R")
        for _ in 0..<2 { #expect((values[One.size.self], values[Two.size.self]) == (1, 2)) }
        values[Two.size.self] = 3
        #expect((values[One.size.self], values[Two.size.self]) == (3, 3))
    }

    @Test func theKeyMayBeComputed() throws {
        let store = PrefsStore.memory()
        let values = AppSettingsValues(store: store, root: "R")
        values[profiled.self] = 2
        profiled.profile.withLock { $0 = "b" }
        #expect(values[profiled.self] == 1)
        values[profiled.self] = 3
        #expect(try store.read(root: "R") as? [String: Int] == ["size of a": 2, "size of b": 3])
    }

    /// By a read, a write, a change by key path and a change in place. The latter is a read and a write, which is
    /// rejected for the reason that the read has reported.
    @Test func everyErrorIsReportedOnce() throws {
        let store = PrefsStore.memory()
        try store.update(root: "R") { $0 = ["picky": "text"] }
        // Each container tells of the state of its own reads.
        func values(_ root: String = "R") -> AppSettingsValues { AppSettingsValues(store: store, root: root) }
        let mismatch = "picky: expected Int, found a string"
        #expect(values()[picky.self] == 1 && picky.told.all == [mismatch])
        #expect(values("\0").set(2, for: picky.self) != nil && picky.told.all.count == 2)
        #expect(AppSetting(\.picky, in: values()).modify { $0 += 1 } != nil)
        #expect(picky.told.all.dropFirst(2) == [mismatch])
        values()[picky.self] += 1
        #expect(picky.told.all.dropFirst(3) == [mismatch])
        values("\0")[picky.self] += 1
        #expect(picky.told.all.count == 5)
        let prefs = AnyPrefs(store: store)
        let error = prefs.update {
            prefs["a"] = 1
            values()[picky.self] += 1
        }.failure
        #expect(error != nil && picky.told.all.count == 6 && prefs["a"] == nil, "it still undoes the update around it")
        #expect(try store.read(root: "R")?["picky"] as? String == "text")
    }

    /// The instance of a key is one for all threads, because one of them may be tracking it.
    @Test func aKeyHasOneInstanceInAContainer() {
        for _ in 0..<20 {
            let values = AppSettingsValues(store: .memory(), root: "R")
            let found = Locked<[KeyPrefs<Int>]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let prefs = values.prefs(outer.self)
                found.withLock { $0.append(prefs) }
            }
            #expect(Set(found.withLock { $0.map(ObjectIdentifier.init) }).count == 1)
        }
    }
}
