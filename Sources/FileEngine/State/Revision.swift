package import PrefsPropertyLists

/// The content of a domain: entries by root key.
package typealias DomainContent = [String: StoredValue]

/// Identifies a committed state: two states with the same revision have the same content.
@usableFromInline
package struct Revision: Equatable, Sendable {
    private static let last = Locked<UInt64>(0)

    @usableFromInline package let number: UInt64

    package init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }

    /// Written by hand, because other modules cannot inline a synthesized operator.
    @inlinable
    package static func == (left: Revision, right: Revision) -> Bool { left.number == right.number }
}
