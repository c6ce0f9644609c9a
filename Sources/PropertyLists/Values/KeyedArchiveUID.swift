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
