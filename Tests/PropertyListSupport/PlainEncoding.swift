package import Foundation
package import PrefsPropertyLists

extension PropertyListFormat {
    /// Those that Foundation and other readers of property lists know.
    package static let propertyLists: [PropertyListFormat] = [.binary, .xml]
}

extension PropertyListCoder {
    /// The same of values that Swift code writes down, `["a": 1]`.
    package static func encode(plain value: Any, as format: PropertyListFormat) throws -> Data {
        try encode(PropertyListVetter.canonical(value, forKey: "").get(), as: format)
    }
}
