import Foundation
import RVS_PersistentPrefs
import Testing

/// The seed's whole test set as its users have it: a module in the Swift 5 language mode, with a static dictionary of
/// defaults, and not a word of `Sendable`. On Linux without `@objc dynamic`.
public class TestSet: RVS_PersistentPrefs {
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
    private static let _myValues: [String: Any] = [
        "Integer Value": 10, "String Value": "Sample", "Array Value": ["One", "Two"],
        "Dictionary Value": ["One": "First"], "Date Value": Date(timeIntervalSinceReferenceDate: 0.5),
    ]

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

@Suite struct TestSetTests {
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

    private func name(_ error: RVS_PersistentPrefs.PrefsError?) -> String {
        switch error {
        case .none: return "none"
        case .some(.incorrectKeys(invalidElements: let keys)): return "incorrect \(keys)"
        case .some(.valuesNotPlistCompatible(invalidElements: let keys)): return "incompatible \(keys)"
        case .some(.noStoredPrefsForKey(key: let key)): return "nothing stored under \(key)"
        case .some(.unknownError(error: let error)): return "unknown \(String(describing: error))"
        default: return "one of the new cases"
        }
    }

    @Test func errorsAreFoundByCaseAndNothingHasChanged() {
        let before = shown(prefs)
        // Only the top-level key is named, even if the invalid value is deeper.
        prefs.values["Dictionary Value"] = ["One": ["deep": [1, 2, DispatchQueue.main]]]
        #expect(name(prefs.lastError) == #"incompatible ["Dictionary Value"]"#)
        prefs.values = ["Integer Value": 11, "String Value": UUID(), "Date Value": { 1 }]
        #expect(name(prefs.lastError) == #"incompatible ["Date Value", "String Value"]"#)
        prefs.values = ["Integer Value": 11, "Zeta": 1, "Alpha": 1]
        #expect(name(prefs.lastError) == #"incorrect ["Alpha", "Zeta"]"#)
        prefs.values["integer value"] = 11
        #expect(name(prefs.lastError) == #"incorrect ["integer value"]"#)
        #expect(shown(prefs) == before)
        #expect(name(prefs.lastError) == "none", "the next access clears it")
    }

    @Test func clearRemovesTheEntryAsDeleteAllDoes() {
        prefs.clear()
        prefs.flush()
        #expect(name(prefs.lastError) == "nothing stored under Set" && prefs.values.isEmpty)
        prefs.values = ["Integer Value": 11]
        #expect(name(prefs.lastError) == "none")
        prefs.deleteAll()
        prefs.flush()
        #expect(name(prefs.lastError) == "nothing stored under Set")
    }

    @Test func theBaseClassStopsTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = RVS_PersistentPrefs(key: "Bare") }
    }
}
