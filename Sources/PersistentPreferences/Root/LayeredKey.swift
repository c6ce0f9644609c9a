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
    /// Without such a value, the fields that win over those of the stored one.
    private let fields: Value?
    /// The value that is read if nothing is stored.
    package let below: Value?
    /// The entries that do not fit and were ignored.
    package let faults: [LayerFault]
    private let key: String
    private let property: (any DeclaredProperty)?

    /// - Parameter property: nil for a key without a declaration, which accepts every value.
    package init(
        _ key: String, for property: (any DeclaredProperty)?, above: Value?, fields: Value? = nil, below: Value?,
        faults: [LayerFault]
    ) {
        (self.key, self.property, self.fields) = (key, property, fields)
        (self.above, self.below, self.faults) = (above, below, faults)
    }

    /// The value between the layers.
    func value(over stored: StoredValue?) -> StoredValue? {
        if let above { return above.value }
        guard let stored, mismatch(of: stored) == nil else { return completed(below?.value) }
        return completed(stored)
    }

    /// A value of the base or below it, or the default, with the fields of the layers above.
    func completed(_ value: StoredValue?) -> StoredValue? {
        let base = value?.isNull == false ? value : property?.storedDefault
        guard let fields = fields?.value.dictionary, let base = base?.dictionary else { return value }
        return .dictionary(base.merging(fields) { $1 })
    }

    /// What rejects a write.
    var cover: Value? { above ?? fields }

    /// Why a stored value does not fit its property, so that the layer below is read. nil if it fits, or if no layer
    /// below has a value.
    func mismatch(of stored: StoredValue) -> PrefsError? {
        below == nil ? nil : property?.error(of: stored, forKey: key)
    }
}
