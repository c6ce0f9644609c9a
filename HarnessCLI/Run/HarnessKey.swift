import Foundation
import PrefsTestSet

/// One of the five keys of the test set, with its short name and type.
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

    /// Returns true if a stored value has the key's type. Other programs may store any type.
    func fits(_ value: Any) -> Bool {
        switch type {
        // On Linux, the numbers 0 and 1 cast to `Bool`, and a `Bool` casts to `Int`. Compares the dynamic type.
        case .int: value is Int && Swift.type(of: value) != Bool.self
        case .string: value is String
        case .array: value is [String]
        case .dictionary: value is [String: String]
        case .date: value is Date
        }
    }
}
