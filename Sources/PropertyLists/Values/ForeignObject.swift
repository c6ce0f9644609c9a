/// A reference between the objects of a keyed archive. It has its own type in a binary property list, and is a
/// dictionary with the only key `CF$UID` in XML.
///
/// Entries of other programs may hold such a reference. It is read and written back, but users of the package cannot
/// store one.
package struct KeyedArchiveUID: Hashable, Sendable {
    package let value: UInt64

    package static let key = "CF$UID"

    package init(value: UInt64) { self.value = value }
}

/// An object that no other case can express: a text with half a surrogate pair, or a container too large to be
/// examined.
///
/// A class, because a value with an `Any` would take twice as much memory. Unchecked because this package does not look
/// into the object.
package final class ForeignObject: @unchecked Sendable {
    package let object: Any

    package init(_ object: Any) { self.object = object }
}
