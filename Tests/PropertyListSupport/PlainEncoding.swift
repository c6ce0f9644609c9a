package import Foundation
package import PrefsPropertyLists

// Conversions for tests that state property lists as objects of Foundation, so that results can be compared with Foundation's.

extension PropertyListFormat {
    /// Those that Foundation and other readers of property lists know.
    package static let propertyLists: [PropertyListFormat] = [.binary, .xml]
}

extension StoredValue {
    /// The value of an object as the library gives it, or of one that Swift code writes down.
    package init(of object: Any) {
        switch object {
        case let value as StoredValue: self = value
        case let members as [String: StoredValue]: self = .dictionary(members)
        case let uid as KeyedArchiveUID: self = .uid(uid)
        case let list as [Any]: self = .array(list.map(StoredValue.init(of:)))
        case let dictionary as [String: Any]: self = .dictionary(dictionary.mapValues(StoredValue.init(of:)))
        default:
            guard let value = try? PropertyListVetter.value(of: object, forKey: "") else {
                // Dates that the vetter rejects are in files of others.
                guard let date = object as? Date else { preconditionFailure("\(object) is not in a property list") }
                self = .date(date)
                return
            }
            self = value
        }
    }

    /// Whether two objects are the same property list to the library.
    package static func areEqual(_ left: Any, _ right: Any) -> Bool {
        StoredValue(of: left) == StoredValue(of: right)
    }
}

extension PropertyListVetter {
    /// The object that a read gives after a write of this object.
    package static func storedObject(of object: Any, forKey key: String) -> Result<Any, Refusal> {
        do { return .success(try value(of: object, forKey: key).object) } catch { return .failure(error) }
    }
}

extension PropertyListCoder {
    package static func encode(
        objects value: Any, as format: PropertyListFormat, replacing former: Any? = nil
    ) throws(EncodingFailure) -> Data {
        try encode(StoredValue(of: value), as: format, replacing: former.map(StoredValue.init(of:)))
    }

    /// The same of values that Swift code writes down, `["a": 1]`, and that are vetted.
    package static func encode(plain value: Any, as format: PropertyListFormat) throws -> Data {
        try encode(PropertyListVetter.value(of: value, forKey: ""), as: format)
    }
}

extension [String: StoredValue] {
    package init(of objects: [String: Any]) { self = objects.mapValues(StoredValue.init(of:)) }
}
