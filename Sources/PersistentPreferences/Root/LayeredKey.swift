package import PrefsPropertyLists

/// The values of the layers for one key of a class, parsed and checked by the declared type.
package final class LayeredKey: Sendable {
    package struct Value: Sendable {
        package let value: StoredValue
        package let layer: String
        package let place: String

        package init(_ value: StoredValue, layer: String, place: String) {
            (self.value, self.layer, self.place) = (value, layer, place)
        }
    }

    /// The value that wins over the stored one.
    package let above: Value?
    /// The value that is read if nothing is stored.
    package let below: Value?
    /// The entries that do not fit and were ignored.
    package let faults: [LayerFault]
    private let key: String
    private let property: (any DeclaredProperty)?

    /// - Parameter property: nil for a key without a declaration, which accepts every value.
    package init(
        _ key: String, for property: (any DeclaredProperty)?, above: Value?, below: Value?, faults: [LayerFault]
    ) {
        (self.key, self.property) = (key, property)
        (self.above, self.below, self.faults) = (above, below, faults)
    }

    /// The value between the layers.
    func value(over stored: StoredValue?) -> StoredValue? {
        if let above { return above.value }
        guard let stored, mismatch(of: stored) == nil else { return below?.value }
        return stored
    }

    /// Why a stored value does not fit its property, so that the layer below is read. nil if it fits, or if no layer
    /// below has a value.
    func mismatch(of stored: StoredValue) -> PrefsError? {
        below == nil ? nil : property?.error(of: stored, forKey: key)
    }
}
