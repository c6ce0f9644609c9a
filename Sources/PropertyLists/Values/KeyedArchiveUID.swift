/// A reference between the objects of a keyed archive: a value of its own in a binary property list, a dictionary with the lone
/// key `CF$UID` in XML.
///
/// Entries of other programs may hold one. It is read and written back, but no user of the package can store one.
package struct KeyedArchiveUID: Hashable, Sendable {
    package let value: UInt64

    package static let key = "CF$UID"
}
