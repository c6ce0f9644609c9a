import Foundation
import PrefsTestSet

/// One of the five keys of the test set: what it is called here, and how its values are typed.
struct HarnessKey: Equatable {
    enum ValueType: String {
        case int = "Int"
        case string = "String"
        case array = "Array"
        case dictionary = "Dictionary"
        case date = "Date"
    }

    let name: String
    let shortName: String
    let type: ValueType

    static func all(of prefs: PrefsTestSet) -> [HarnessKey] {
        [
            HarnessKey(name: prefs.intKey, shortName: "int", type: .int),
            HarnessKey(name: prefs.stringKey, shortName: "string", type: .string),
            HarnessKey(name: prefs.arrayKey, shortName: "array", type: .array),
            HarnessKey(name: prefs.dictionaryKey, shortName: "dictionary", type: .dictionary),
            HarnessKey(name: prefs.dateKey, shortName: "date", type: .date),
        ]
    }

    /// Whether a stored value is of the key's type; another program may have stored any.
    func fits(_ value: Any) -> Bool {
        switch type {
        // On Linux the numbers 0 and 1 are `Bool` as well; a stored truth value is nothing but that.
        case .int: value is Int && Swift.type(of: value) != Bool.self
        case .string: value is String
        case .array: value is [String]
        case .dictionary: value is [String: String]
        case .date: value is Date
        }
    }
}
