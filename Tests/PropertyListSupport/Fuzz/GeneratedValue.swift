import Foundation

/// A value that a program may want to store, and the expected result.
package struct GeneratedValue {
    package let value: Any
    /// The canonical form; nil if no property list can hold the value.
    package let expected: Any?
    /// Levels of containers.
    var depth = 0
    /// The approximate size that the vetter counts.
    var cost = 9

    /// A value that no property list can hold.
    static func refused(_ value: Any) -> GeneratedValue {
        GeneratedValue(value: value, expected: nil)
    }

    /// Another object for this value.
    func wrapped(_ value: Any) -> GeneratedValue {
        GeneratedValue(value: value, expected: expected, depth: depth, cost: cost + 9)
    }

    /// A container of the parts, whose costs add up.
    static func container(_ value: Any, of parts: [GeneratedValue], expected: () -> Any?) -> GeneratedValue {
        GeneratedValue(
            value: value, expected: parts.allSatisfy { $0.expected != nil } ? expected() : nil,
            depth: 1 + (parts.map(\.depth).max() ?? 0),
            cost: parts.reduce(9) { min($0 + $1.cost, 1 << 40) })
    }

    /// Whether the value must be accepted. Near the limit of size, 4 MiB, both outcomes are valid, because the cost is an
    /// estimate.
    package var mustBeAccepted: Bool {
        expected != nil && depth <= 64 && cost < 2 << 20
    }

    package var mustBeRefused: Bool {
        expected == nil || depth > 64 || cost > 8 << 20
    }
}
