@testable import PrefsSupport
import Foundation
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

private struct choosy: PrefKey {
    static let defaultValue = 1
    static let told = Failures()
    static func didFail(_ error: PrefsError) { told.add("\(error)") }
}

extension AppSettingsValues {
    fileprivate var choosy: Int {
        get { self[PrefsKeysTests.choosy.self] }
        set { self[PrefsKeysTests.choosy.self] = newValue }
    }
}

private struct fussy: PrefKey {
    static let defaultValue = 1
    static let told = Failures()
    static func didFail(_ error: PrefsError) { told.add("\(error)") }
}

@Suite struct PrefKeyTests {
    @Test func aKeyIsTheNameOfItsType() {
        struct local: PrefKey { static let defaultValue = 1 }
        #expect(outer.stringKey == "outer" && Space.inner.stringKey == "inner" && local.stringKey == "local")
        #expect(Generic<Int, [String]>.stringKey == "Generic<Int, Array<String>>")
    }

    @Test(arguments: [
        ("hasWidgets #1", "hasWidgets"), ("hasWidgets #12", "hasWidgets"), ("hasWidgets", "hasWidgets"),
        ("Generic<Int, String>", "Generic<Int, String>"), ("hash #", "hash #"),
    ])
    func theMarkOfOlderCompilersIsStripped(_ name: String, _ key: String) {
        #expect(PrefKeyName.stripped(name) == key)
    }

    private struct profiled: PrefKey {
        static let defaultValue = 1
        static let profile = Locked("a")
        static var stringKey: String { "size of " + profile.withLock { $0 } }
    }

    @Test func theKeyMayBeComputed() throws {
        let store = InMemoryStore()
        let values = AppSettingsValues(store: store, root: "R")
        values[profiled.self] = 2
        profiled.profile.withLock { $0 = "b" }
        #expect(values[profiled.self] == 1)
        values[profiled.self] = 3
        #expect(try store.read(root: "R") as? [String: Int] == ["size of a": 2, "size of b": 3])
    }

    @Test func everyErrorIsReported() throws {
        let store = InMemoryStore()
        try store.update(root: "R") { $0 = ["picky": "text"] }
        let values = AppSettingsValues(store: store, root: "R")
        #expect(values[picky.self] == 1)
        #expect(picky.told.all == ["picky: expected Int, found a string"])
        #expect(AppSettingsValues(store: store, root: "\0").set(2, for: picky.self) != nil)
        #expect(picky.told.all.count == 2)
    }

    @Test func aFailedModifyByKeyPathIsReportedOnce() throws {
        let store = InMemoryStore()
        try store.update(root: "R") { $0 = ["choosy": "text"] }
        let setting = AppSetting(\.choosy, in: AppSettingsValues(store: store, root: "R"))
        #expect(setting.modify { $0 += 1 } != nil)
        #expect(choosy.told.all == ["choosy: expected Int, found a string"])
        #expect(try store.read(root: "R")?["choosy"] as? String == "text")
    }

    /// The instance of a key is one for all threads, because one of them may be tracking it.
    @Test func aKeyHasOneInstanceInAContainer() {
        for _ in 0..<20 {
            let values = AppSettingsValues(store: InMemoryStore(), root: "R")
            let found = Locked<[KeyPrefs<Int>]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let prefs = values.prefs(outer.self)
                found.withLock { $0.append(prefs) }
            }
            #expect(Set(found.withLock { $0.map(ObjectIdentifier.init) }).count == 1)
        }
    }

    /// A change in place is a read and a write; the write is rejected for the reason that the read has reported.
    @Test func aFailedChangeInPlaceIsReportedOnce() throws {
        let store = InMemoryStore()
        try store.update(root: "R") { $0 = ["fussy": "text"] }
        let values = AppSettingsValues(store: store, root: "R")
        values[fussy.self] += 1
        #expect(fussy.told.all == ["fussy: expected Int, found a string"])
        AppSettingsValues(store: store, root: "\0")[fussy.self] += 1
        #expect(fussy.told.all.count == 2)
        let prefs = AnyPrefs(store: store)
        let error = prefs.update {
            prefs["a"] = 1
            values[fussy.self] += 1
        }
        #expect(error != nil && fussy.told.all.count == 3 && prefs["a"] == nil, "it still undoes the update around it")
        #expect(try store.read(root: "R")?["fussy"] as? String == "text")
    }
}
