/// An object that no other case can express: a text with half a surrogate pair, or a container too large to be
/// examined.
///
/// A class, because a value with an `Any` would take twice as much memory. Unchecked because this package does not look
/// into the object.
package final class ForeignObject: @unchecked Sendable {
    package let object: Any

    package init(_ object: Any) { self.object = object }
}
