import PersistentPreferences
import PrefsPropertyLists

/// Objects whose `take(_:)` has omitted a property. A save of such an object would replace the property in the file by
/// another value.
enum IncompleteObjects {
    private struct Entry {
        weak var object: AnyObject?
        let field: String
    }

    private static let entries = Locked([ObjectIdentifier: Entry]())

    /// - Parameter field: the omitted property; nil if no property was omitted.
    static func record(_ object: AnyObject, omits field: String?) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.object != nil }
            entries[ObjectIdentifier(object)] = field.map { Entry(object: object, field: $0) }
        }
    }

    static func field(omittedBy object: AnyObject) -> String? {
        entries.withLock { entries in
            // Compares the object, because a new object may have the address of an old one.
            entries[ObjectIdentifier(object)].flatMap { $0.object === object ? $0.field : nil }
        }
    }
}
