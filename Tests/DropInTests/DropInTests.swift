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

    public override init(key: String?, values: [String: Any]?, store: PrefsStore?) {
        super.init(key: key, values: values, store: store)
    }

    convenience init(number: Int) {
        self.init()
        key += " \(number)"
    }
}

/// A set with a rule over two values, which it reads by their keys.
class RangeSet: RVS_PersistentPrefs {
    override var keys: [String] { ["Low", "High"] }

    override class var rules: [PrefsRule] {
        [
            PrefsRule { (prefs: RangeSet) in
                let (low, high) = (prefs.values["Low"] as? Int ?? 0, prefs["High"] as? Int ?? 9)
                return low > high ? "Low must be at most High" : nil
            }
        ]
    }
}

@Suite struct DropInTests {
    private let prefs: TestSet
    private let other: TestSet

    init() {
        (prefs, other) = RVS_PersistentPrefs.withStore(.memory()) { (TestSet(key: "Set"), TestSet(key: "Set")) }
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

    @Test func setsAreKeptApartByTheirKeys() {
        RVS_PersistentPrefs.withStore(.memory()) {
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

    @Test func aRuleHoldsForTheDictionary() {
        RVS_PersistentPrefs.withStore(.memory()) {
            let prefs = RangeSet()
            let error = PrefsError.ruleViolated(["Low must be at most High"])
            prefs.values = ["Low": 20, "High": 30]
            #expect(prefs.lastError == nil)
            prefs.values = ["Low": 20]
            #expect(prefs.lastError == error)
            prefs.values["High"] = 19
            #expect(prefs.lastError == error)
            prefs.values["High"] = nil
            #expect(prefs.lastError == error)
            #expect(RangeSet(key: nil, values: ["Low": 31]).lastError == error)
            #expect(prefs.values as? [String: Int] == ["Low": 20, "High": 30])
            prefs.clear()
            #expect(prefs.lastError == nil && prefs.values.isEmpty)
        }
    }

    @Test func initializersOfTheSubclassSetTheKey() {
        RVS_PersistentPrefs.withStore(.memory()) {
            let prefs = OwnInitializersPrefs(number: 2)
            #expect(prefs.formerKeys.last == "Own" && prefs.key == "Own 2")
            prefs.values["Integer Value"] = 3
            #expect(TestSet(key: "Own 2").int == 3)
            #expect(OwnInitializersPrefs().values.isEmpty)
        }
    }
}
