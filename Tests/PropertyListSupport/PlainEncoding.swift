package import Foundation
public import PrefsPropertyLists

// Conversions for tests that state property lists as objects of Foundation, so that results can be compared with
// Foundation's.

extension FileFormat {
    /// The formats that Foundation and other readers of property lists know.
    package static let propertyLists: [FileFormat] = [.binary, .plainXML]
}

/// Tests compare formats, and have them in their tables. Programs have no use for it.
extension FileFormat: Hashable, CustomStringConvertible {
    /// Whether both formats have the same name.
    public static func == (left: FileFormat, right: FileFormat) -> Bool { left.name == right.name }
    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    /// The name.
    public var description: String { name }
}

extension StoredValue {
    /// Creates the value of an object of the library or of a Swift literal.
    package init(of object: Any) {
        // The types come first: a cast to a class, as to NSNull, makes an object of Foundation of a whole dictionary.
        switch type(of: object) {
        case is [String: Any].Type:
            self = .dictionary((object as? [String: Any] ?? [:]).mapValues(StoredValue.init(of:)))
        case is [Any].Type:
            self = .array((object as? [Any] ?? []).map(StoredValue.init(of:)))
        default:
            self.init(ofOther: object)
        }
    }

    private init(ofOther object: Any) {
        switch object {
        case let value as StoredValue: self = value
        case let members as [String: StoredValue]: self = .dictionary(members)
        case let uid as KeyedArchiveUID: self = .uid(uid)
        case is NSNull: self = .null
        case let list as [Any]: self = .array(list.map(StoredValue.init(of:)))
        case let dictionary as [String: Any]: self = .dictionary(dictionary.mapValues(StoredValue.init(of:)))
        default:
            guard let value = try? PropertyListVetter.value(of: object) else {
                // Files of other programs may contain dates that the vetter rejects.
                guard let date = object as? Date else { preconditionFailure("\(object) is not in a property list") }
                self = .date(date)
                return
            }
            self = value
        }
    }

    /// Whether the library considers two objects equal property lists.
    package static func areEqual(_ left: Any, _ right: Any) -> Bool {
        StoredValue(of: left) == StoredValue(of: right)
    }
}

extension PropertyListVetter {
    /// The object that a read returns after a write of this object.
    package static func storedObject(of object: Any) -> Result<Any, ValueMismatch> {
        do { return .success(try value(of: object).object) } catch { return .failure(error) }
    }
}

extension PropertyListCoder {
    package static func encode(objects value: Any, as format: FileFormat) throws(PropertyListFailure) -> Data {
        try encode(StoredValue(of: value), as: format)
    }

    /// Encodes a Swift literal such as `["a": 1]`, which is vetted first.
    package static func encode(plain value: Any, as format: FileFormat) throws -> Data {
        try encode(PropertyListVetter.value(of: value), as: format)
    }
}
