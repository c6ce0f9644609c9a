import Foundation
import RVS_PersistentPrefs
import Testing

/// Code in the style of RVS_PersistentPrefs: implicitly unwrapped parameters, overridden initializers, its own
/// `init(key:)` and `reset()`, keys found by index.
class SeedStylePrefs: RVS_PersistentPrefs {
    private enum _ValueIndexes: Int {
        case int, string
    }

    private static let _myKeys: [String] = ["Integer Value", "String Value"]
    private static var _myValues: [String: Any] { return ["Integer Value": 10, "String Value": "Default"] }

    override public var keys: [String] {
        return type(of: self)._myKeys
    }

    public override init(key inKey: String! = nil, values inValues: [String: Any]! = nil) {
        super.init(key: inKey, values: inValues)
    }

    public override init(key: String?, values: [String: Any]?, store: any PrefsStore) {
        super.init(key: key, values: values, store: store)
    }

    init(key inKey: String) {
        super.init(key: inKey)
        if values.isEmpty {
            values = type(of: self)._myValues
        }
    }

    var int: Int {
        get {
            if let ret = values[keys[_ValueIndexes.int.rawValue]] as? Int {
                return ret
            } else {
                return 0
            }
        }
        set {
            return values[keys[_ValueIndexes.int.rawValue]] = newValue
        }
    }

    var string: String {
        get {
            let value = values[keys[_ValueIndexes.string.rawValue]] as? String ?? ""
            return value
        }
        set {
            return values[keys[_ValueIndexes.string.rawValue]] = newValue
        }
    }

    func reset() {
        values = type(of: self)._myValues
    }
}

/// A subclass that fixes its key.
class FixedKeyPrefs: SeedStylePrefs {
    private var _key = "Fixed"
    override var key: String {
        get { return _key }
        set { _key = newValue }
    }
}

/// A subclass whose initializers are its own, and set the key afterwards, which is watched.
class OwnInitializersPrefs: RVS_PersistentPrefs {
    override var keys: [String] { ["Integer Value"] }

    var formerKeys: [String] = []

    override var key: String {
        didSet { formerKeys.append(oldValue) }
    }

    override init() {
        super.init(key: nil, values: nil)
        key = "Own"
    }

    convenience init(number: Int) {
        self.init()
        key += " \(number)"
    }
}

@Suite struct DropInTests {
    private func inMemory<R>(_ body: () throws -> R) rethrows -> R {
        try RVS_PersistentPrefs.withStore(InMemoryStore(), body)
    }

    @Test func defaultsAreStoredOnce() {
        inMemory {
            let prefs = SeedStylePrefs(key: "Seed")
            #expect(prefs.int == 10)
            prefs.int = 5
            #expect(SeedStylePrefs(key: "Seed").int == 5)
            prefs.reset()
            #expect(prefs.values["String Value"] as? String == "Default")
        }
    }

    @Test func initializersAndErrorsAreTheSeeds() {
        inMemory {
            let prefs = SeedStylePrefs(key: "Seed", values: ["Integer Value": 3])
            #expect(prefs.int == 3)
            #expect(SeedStylePrefs().key == "SeedStylePrefs")
            prefs.values = ["Nonsense": 1]
            switch prefs.lastError {
            case .incorrectKeys(let invalidElements):
                #expect(invalidElements == ["Nonsense"])
            default:
                Issue.record("\(String(describing: prefs.lastError))")
            }
            prefs.values["String Value"] = Date.self
            if let error: RVS_PersistentPrefs.PrefsError = prefs.lastError,
                case .valuesNotPlistCompatible(let invalidElements) = error
            {
                let names: [String] = invalidElements
                #expect(names == ["String Value"])
            } else {
                Issue.record("\(String(describing: prefs.lastError))")
            }
            prefs.clear()
            prefs.deleteAll()
            prefs.flush()
            if case .noStoredPrefsForKey(let key) = prefs.lastError { #expect(key == "Seed") } else { Issue.record() }
        }
    }

    @Test func anOverriddenKeyIsUsed() {
        inMemory {
            let prefs = FixedKeyPrefs(key: "ignored")
            prefs.int = 7
            #expect(SeedStylePrefs(key: "Fixed").int == 7)
            prefs.key = "Elsewhere"
            #expect(prefs.int == 0)
        }
    }

    @Test func initializersOfTheSubclassSetTheKey() {
        inMemory {
            let prefs = OwnInitializersPrefs(number: 2)
            #expect(prefs.formerKeys.last == "Own" && prefs.key == "Own 2")
            prefs.values["Integer Value"] = 3
            #expect(SeedStylePrefs(key: "Own 2").int == 3)
            #expect(OwnInitializersPrefs().values.isEmpty)
        }
    }

    @Test func whatIsStoredIsInTheFileAtOnce() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "prefs-\(UUID().uuidString)/seed.plist")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: false)
        try RVS_PersistentPrefs.withStore(PropertyListFileStore(url: file)) {
            SeedStylePrefs(key: "Seed").string = "kept"
            let content = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
            let root = (content as? [String: Any])?["Seed"] as? NSDictionary
            #expect(root == ["Integer Value": 10, "String Value": "kept"])
        }
    }
}
