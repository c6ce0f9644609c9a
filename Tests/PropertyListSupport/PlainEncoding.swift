import Foundation

@testable import PersistentPreferences
@testable import PrefsPropertyLists

extension PropertyListCoder {
    /// The same of values that Swift code writes down, `["a": 1]`.
    static func encode(plain value: Any, as format: PropertyListFormat) throws -> Data {
        try encode(PropertyListVetter.canonical(value, forKey: "").get(), as: format)
    }
}
