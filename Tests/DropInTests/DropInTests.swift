import Foundation
import RVS_PersistentPrefs
import Testing

/// The seed's whole test set as its users have it: implicitly unwrapped parameters, an overridden initializer, its own
/// `init(key:)` and `reset()`, keys found by index, and not a word of `Sendable`. On Linux without `@objc dynamic`.
class TestSet: RVS_PersistentPrefs {
    private enum _ValueIndexes: Int {
        case int = 0
        case string
        case array
        case dictionary
        case date
    }

    private static let _myKeys: [String] = [
        "Integer Value", "String Value", "Array Value", "Dictionary Value", "Date Value",
    ]
    // Swift 6 rejects a static dictionary of them.
    private static var _myValues: [String: Any] {
        return [
            "Integer Value": 10, "String Value": "Sample", "Array Value": ["One", "Two"],
            "Dictionary Value": ["One": "First"], "Date Value": Date(timeIntervalSinceReferenceDate: 0.5),
        ]
    }

    override public var keys: [String] {
        return type(of: self)._myKeys
    }

    public override init(key inKey: String! = nil, values inValues: [String: Any]! = nil) {
        super.init(key: inKey, values: inValues)
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

    var array: [String] {
        get { return values[keys[_ValueIndexes.array.rawValue]] as? [String] ?? [] }
        set { values[keys[_ValueIndexes.array.rawValue]] = newValue }
    }

    var dictionary: [String: String] {
        get { return values[keys[_ValueIndexes.dictionary.rawValue]] as? [String: String] ?? [:] }
        set { values[keys[_ValueIndexes.dictionary.rawValue]] = newValue }
    }

    var date: Date {
        get { return values[keys[_ValueIndexes.date.rawValue]] as? Date ?? .distantPast }
        set { values[keys[_ValueIndexes.date.rawValue]] = newValue }
    }

    func reset() {
        values = type(of: self)._myValues
    }
}

/// A subclass that fixes its key.
class FixedKeyPrefs: TestSet {
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

    public override init(key: String?, values: [String: Any]?, store: any PrefsStore) {
        super.init(key: key, values: values, store: store)
    }

    convenience init(number: Int) {
        self.init()
        key += " \(number)"
    }
}

@Suite struct DropInTests {
    private let prefs: TestSet
    private let other: TestSet

    init() {
        (prefs, other) = RVS_PersistentPrefs.withStore(InMemoryStore()) { (TestSet(key: "Set"), TestSet(key: "Set")) }
    }

    /// The values of an instance, read through its accessors.
    private func shown(_ prefs: TestSet) -> String {
        let date = prefs.date.timeIntervalSinceReferenceDate
        return "\(prefs.int) \(prefs.string) \(prefs.array) \(prefs.dictionary) \(date)"
    }

    @Test func everyAccessorStoresAtOnceAndResetTakesItBack() {
        let defaults = #"10 Sample ["One", "Two"] ["One": "First"] 0.5"#
        #expect(shown(prefs) == defaults)
        prefs.int += 5
        prefs.string = "Élan"
        prefs.array.append("Three")
        prefs.dictionary["One"] = "1"
        prefs.date = Date(timeIntervalSinceReferenceDate: -1)
        let changed = #"15 Élan ["One", "Two", "Three"] ["One": "1"] -1.0"#
        #expect(shown(other) == changed)
        other.reset()
        #expect(shown(prefs) == defaults)
        #expect(prefs.lastError == nil)
    }

    /// The storage has no types. An accessor casts, or returns its empty value.
    @Test func valuesAreAnyDictionary() {
        prefs.values["Integer Value"] = "ten"
        #expect(prefs.int == 0)
        #expect(prefs.values["Integer Value"] as? String == "ten")
        prefs.values = ["String Value": "alone"]
        #expect(other.values.count == 1 && other.values["String Value"] as! String == "alone")
        #expect(other.int == 0 && other.array.isEmpty && other.date == .distantPast)
        other.values.removeAll()
        #expect(prefs.values.isEmpty)
    }

    @Test func setsAreKeptApartByTheirKeys() {
        RVS_PersistentPrefs.withStore(InMemoryStore()) {
            let first = TestSet(key: "First", values: ["Integer Value": 1])
            let unnamed = TestSet()
            #expect(unnamed.key == "TestSet" && unnamed.values.isEmpty, "only init(key:) stores defaults")
            #expect(TestSet(key: "Second").int == 10)
            first.key = "Second"
            #expect(first.int == 10)
            first.deleteAll()
            #expect(TestSet(key: "First", values: nil).int == 1)
            #expect(TestSet(key: "Second", values: nil).values.isEmpty)
        }
    }

    @Test func errorsAreFoundByCaseAndNothingHasChanged() {
        let before = shown(prefs)
        // Only the top-level key is named, even if the invalid value is deeper.
        prefs.values["Dictionary Value"] = ["One": ["deep": [1, 2, DispatchQueue.main]]]
        #expect(caseName(prefs.lastError) == #"valuesNotPlistCompatible ["Dictionary Value"]"#)
        prefs.values = ["Integer Value": 11, "String Value": UUID(), "Date Value": { 1 }]
        #expect(caseName(prefs.lastError) == #"valuesNotPlistCompatible ["Date Value", "String Value"]"#)
        prefs.values = ["Integer Value": 11, "Zeta": 1, "Alpha": 1]
        #expect(caseName(prefs.lastError) == #"incorrectKeys ["Alpha", "Zeta"]"#)
        prefs.values["integer value"] = 11
        #expect(caseName(prefs.lastError) == #"incorrectKeys ["integer value"]"#)
        #expect(shown(prefs) == before)
        #expect(caseName(prefs.lastError) == "none", "the next access clears it")
    }

    @Test func clearRemovesTheEntryAsDeleteAllDoes() {
        prefs.clear()
        prefs.flush()
        #expect(caseName(prefs.lastError) == "noStoredPrefsForKey Set" && prefs.values.isEmpty)
        prefs.values = ["Integer Value": 11]
        #expect(caseName(prefs.lastError) == "none")
        prefs.deleteAll()
        prefs.flush()
        #expect(caseName(prefs.lastError) == "noStoredPrefsForKey Set")
    }

    @Test func anOverriddenKeyIsUsed() {
        RVS_PersistentPrefs.withStore(InMemoryStore()) {
            let prefs = FixedKeyPrefs(key: "ignored")
            prefs.int = 7
            #expect(TestSet(key: "Fixed").int == 7)
            prefs.key = "Elsewhere"
            #expect(prefs.int == 0)
        }
    }

    @Test func initializersOfTheSubclassSetTheKey() {
        RVS_PersistentPrefs.withStore(InMemoryStore()) {
            let prefs = OwnInitializersPrefs(number: 2)
            #expect(prefs.formerKeys.last == "Own" && prefs.key == "Own 2")
            prefs.values["Integer Value"] = 3
            #expect(TestSet(key: "Own 2").int == 3)
            #expect(OwnInitializersPrefs().values.isEmpty)
        }
    }
}
