import Foundation
import RVS_PersistentPrefs
import Testing

// Every member of the first version of RVS_PersistentPrefs and of version 1.7, spelt as its users do.

/// All that a class must have.
class SmallSet: RVS_PersistentPrefs, @unchecked Sendable {
    override var keys: [String] { return ["Integer Value", "String Value"] }
}

/// Has a store that is no suite.
final class MemorySet: SmallSet, @unchecked Sendable {
    override class var store: PrefsStore { .memory() }
}

/// Watches its errors, as with the stored property of the original.
final class WatchingSet: SmallSet, @unchecked Sendable {
    var found: [String] = []

    override var lastError: PrefsError? {
        willSet { found.append("will \(newValue == nil ? "clear" : "set")") }
        didSet { found.append("did \(oldValue == nil ? "nil" : "error") to \(lastError == nil ? "nil" : "error")") }
    }
}

/// An access in an observer would otherwise have no end.
final class CuriousSet: SmallSet, @unchecked Sendable {
    var calls = 0
    override var lastError: PrefsError! {
        didSet {
            calls += 1
            values["Nonsense"] = calls
        }
    }
}

/// Shows another error than the access had.
final class RenamingSet: SmallSet, @unchecked Sendable {
    override var lastError: PrefsError? {
        get { super.lastError.map { _ in PrefsError.unknownError(error: nil) } }
        set { super.lastError = newValue }
    }
}

/// Keeps its error elsewhere.
final class OwnErrorSet: SmallSet, @unchecked Sendable {
    private var error: PrefsError?
    override var lastError: PrefsError? {
        get { return error }
        set { error = newValue }
    }
}

/// Has a `UserDefaults` of its own, which may be missing.
final class InjectedSet: SmallSet, @unchecked Sendable {
    var injected: UserDefaults?
    var isOfClass = false
    override var userDefaults: UserDefaults? { return isOfClass ? super.userDefaults : injected }

    init(_ injected: UserDefaults?, values: [String: Any]? = nil) {
        self.injected = injected
        super.init(key: "Injected", values: values)
    }
}

class ParentSet: SmallSet, @unchecked Sendable {}
final class ChildSet: ParentSet, @unchecked Sendable {}

final class OverridingSet: RVS_PersistentPrefs, @unchecked Sendable {
    var calls: [String] = []

    override var keys: [String] { return ["Integer Value"] }
    override var count: Int { return super.count + 6 }

    override func flush() {
        calls.append("flush")
        super.flush()
    }

    override func clear() {
        calls.append("clear")
        super.clear()
    }

    override func deleteAll() {
        calls.append("deleteAll")
        super.deleteAll()
    }
}

/// The case of an error with its details, spelt as users of RVS_PersistentPrefs do.
func caseName(_ error: RVS_PersistentPrefs.PrefsError?) -> String {
    switch error {
    case .none: return "none"
    case .incorrectKeys(let invalidElements)?: return "incorrectKeys \(invalidElements)"
    case .valuesNotPlistCompatible(let invalidElements)?: return "valuesNotPlistCompatible \(invalidElements)"
    case .noStoredPrefsForKey(let key)?: return "noStoredPrefsForKey \(key)"
    case .userDefaultsUnavailable?: return "userDefaultsUnavailable"
    case .rootIsNotDictionary(let key)?: return "rootIsNotDictionary \(key)"
    case .unknownError(let error)?: return "unknownError \(error == nil)"
    default: return "another"
    }
}

@Suite struct UpstreamMemberTests {
    private func inMemory<Prefs: RVS_PersistentPrefs>(_ make: () -> Prefs) -> Prefs {
        RVS_PersistentPrefs.withStore(.memory(), make)
    }

    @Test func everyMemberIsThere() {
        RVS_PersistentPrefs.withStore(.memory()) {
            let prefs = SmallSet(key: "Set", values: ["Integer Value": 1])
            let name: String! = "Set"
            let none: [String: Any]! = nil
            let empty: [String: Any]! = [:]
            #expect(SmallSet(key: name, values: none).count == 1 && SmallSet(key: name, values: empty).count == 1)
            #expect(
                SmallSet().key == "SmallSet" && SmallSet(key: nil).key == "SmallSet" && SmallSet(values: nil).count == 0
            )
            prefs["String Value"] = "text"
            #expect(prefs["String Value"] as? String == "text" && prefs.count == 2 && prefs.values.count == 2)
            #expect(prefs.keys == ["Integer Value", "String Value"])
            prefs["String Value"] = nil
            #expect(prefs.values as? [String: Int] == ["Integer Value": 1])
            prefs.flush()
            #expect(prefs.lastError == nil)
            prefs.clear()
            #expect(prefs.count == 0 && prefs.lastError == nil)
            prefs.key = "Other"
            prefs.deleteAll()
            prefs.flush()
            #expect(caseName(prefs.lastError) == "noStoredPrefsForKey Other")
            let object: NSObject = prefs
            #expect(object is RVS_PersistentPrefs)
        }
    }

    @Test func overridesOfEachMemberAreCalled() {
        let prefs = inMemory { OverridingSet(key: "Set") }
        prefs["Integer Value"] = 1
        #expect(prefs.count == 7 && prefs.allowedKeys == ["Integer Value"] && prefs.lastError == nil)
        prefs.flush()
        prefs.clear()
        #expect(prefs.values.isEmpty)
        prefs["Integer Value"] = 2
        prefs.deleteAll()
        #expect(prefs.values.isEmpty && prefs.calls == ["flush", "clear", "deleteAll"])
    }

    @Test func lastErrorMayBeAssigned() {
        let prefs = inMemory { SmallSet(key: "Set") }
        prefs["Nonsense"] = 1
        #expect(caseName(prefs.lastError) == #"incorrectKeys ["Nonsense"]"#)
        prefs.lastError = nil
        #expect(prefs.lastError == nil)
        prefs.lastError = .unknownError(error: nil)
        #expect(caseName(prefs.lastError) == "unknownError true")
        _ = prefs.values
        #expect(prefs.lastError == nil, "the next access replaces it")
    }

    @Test func observersOfLastErrorAreTold() {
        let prefs = inMemory { WatchingSet(key: "Set") }
        #expect(prefs.found.isEmpty)
        prefs["Nonsense"] = 1
        prefs["Nonsense"] = 2
        #expect(caseName(prefs.lastError) == #"incorrectKeys ["Nonsense"]"#)
        prefs["Integer Value"] = 1
        _ = prefs.values
        let first = ["will set", "did nil to error"]
        #expect(prefs.found == first + ["will set", "did error to error", "will clear", "did error to nil"])
        prefs.lastError = nil
        #expect(prefs.found.suffix(2) == ["will clear", "did nil to nil"])
    }

    @Test func anAccessInAnObserverOfLastErrorEnds() {
        let prefs = inMemory { CuriousSet(key: "Set") }
        prefs["Nonsense"] = 1
        #expect(prefs.calls == 1)
        _ = prefs.values
        #expect(prefs.calls == 2)
    }

    @Test func aGetterOfTheSubclassIsWhatClientsSee() {
        let prefs: RVS_PersistentPrefs = inMemory { RenamingSet(key: "Set") }
        prefs["Nonsense"] = 1
        #expect(caseName(prefs.lastError) == "unknownError true")
        _ = prefs.values
        #expect(prefs.lastError == nil)
    }

    @Test func anErrorThatTheSubclassKeepsIsClearedToo() {
        let prefs: PersistentPrefs = inMemory { OwnErrorSet(key: "Set") }
        prefs["Nonsense"] = 1
        #expect(caseName(prefs.lastError) == #"incorrectKeys ["Nonsense"]"#)
        _ = prefs.values
        #expect(prefs.lastError == nil)
    }

    /// Without UserDefaults nothing is read or stored, and each access says so.
    @Test func withoutUserDefaultsEveryAccessFails() {
        let prefs = InjectedSet(nil, values: ["Integer Value": 1])
        #expect(caseName(prefs.lastError) == "userDefaultsUnavailable")
        let accesses: [(InjectedSet) -> Void] = [
            { _ = $0.values }, { $0.values = ["Integer Value": 1] }, { $0.values["Integer Value"] = 1 },
            { $0["Integer Value"] = 1 }, { _ = $0.count }, { $0.flush() }, { $0.clear() }, { $0.deleteAll() },
        ]
        for (number, access) in accesses.enumerated() {
            prefs.lastError = nil
            access(prefs)
            #expect(caseName(prefs.lastError) == "userDefaultsUnavailable", "access \(number)")
        }
        let stored = prefs.values
        #expect(stored.isEmpty)
    }

    @Test func theStoreOfATestComesBeforeUserDefaults() {
        let prefs = inMemory { InjectedSet(nil, values: ["Integer Value": 1]) }
        #expect(prefs["Integer Value"] as? Int == 1 && prefs.lastError == nil)
    }

    /// Only the property; what it selects is in `DefaultStoreTests`.
    @Test func aGroupBelongsToItsClassAndItsSubclasses() {
        #expect(RVS_PersistentPrefs.groupID == nil && ChildSet.groupID == nil)
        ParentSet.groupID = "group.parent"
        #expect(ParentSet.groupID == "group.parent" && ChildSet.groupID == "group.parent")
        #expect(SmallSet.groupID == nil && RVS_PersistentPrefs.groupID == nil)
        ChildSet.groupID = ""
        #expect(ParentSet.groupID == "group.parent" && ChildSet.groupID == "")
        let (parent, child) = (inMemory { ParentSet(key: "Set") }, inMemory { ChildSet(key: "Set") })
        #expect(child.userDefaults === UserDefaults.standard)
        #expect(parent.userDefaults !== UserDefaults.standard && parent.userDefaults === parent.userDefaults)
        #expect(
            ChildSet.store.roots === PrefsStore.standard.roots && SmallSet.store.roots === PrefsStore.standard.roots)
        #expect(ParentSet.store.roots !== PrefsStore.standard.roots && ParentSet.store.roots === ParentSet.store.roots)
        // nil, too, is an assignment: the standard domain.
        ChildSet.groupID = nil
        #expect(ParentSet.groupID == "group.parent" && ChildSet.groupID == nil)
        #expect(ChildSet.store.roots === PrefsStore.standard.roots)
        ChildSet.groupID = "group.child"
        #expect(ParentSet.groupID == "group.parent" && ChildSet.groupID == "group.child")
        #expect(ChildSet.store.roots !== ParentSet.store.roots)
        ChildSet.groupID = nil
        ParentSet.groupID = nil
        #expect(ParentSet.store.roots === PrefsStore.standard.roots)
    }

    @Test func aStoreOfAClassIsOneForAllInstancesAndComesBeforeAGroup() {
        MemorySet(key: "Set")["Integer Value"] = 5
        MemorySet.groupID = "group.memory"
        #expect(MemorySet(key: "Set")["Integer Value"] as? Int == 5)
        MemorySet.groupID = nil
    }

    @Test func theBaseClassIsAbstract() async {
        await #expect(processExitsWith: .failure) { _ = RVS_PersistentPrefs() }
        await #expect(processExitsWith: .failure) { _ = RVS_PersistentPrefs(key: "Bare", values: nil) }
        await #expect(processExitsWith: .failure) { _ = RVS_PersistentPrefs(store: .memory()) }
    }
}
