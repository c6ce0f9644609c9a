import PrefsPropertyLists

/// The values of the layers for one key of a class, parsed and checked by the declared type.
final class LayeredKey: Sendable {
    struct Value: Sendable {
        let value: StoredValue
        let layer: String
        let place: String
    }

    /// The value that wins over the stored one.
    let above: Value?
    /// The value that is read if nothing is stored.
    let below: Value?
    /// The entries that do not fit and were ignored.
    let faults: [LayerFault]
    private let key: String
    private let property: (any DeclaredProperty)?

    /// - Parameter property: nil for a key without a declaration, which accepts every value, and texts as strings.
    init(_ key: String, in layers: LayersSnapshot, root: String, for property: (any DeclaredProperty)?) {
        var faults: [LayerFault] = []
        func first(of states: [LayerState]) -> Value? {
            for state in states {
                guard let entry = state.entry(forKey: key, root: root, for: property) else { continue }
                switch entry.value {
                case .success(let value): return Value(value: value, layer: state.name, place: entry.place)
                case .failure(let failure):
                    faults.append(LayerFault(layer: state.name, place: entry.place, reason: failure.reason))
                }
            }
            return nil
        }
        above = first(of: layers.above)
        below = first(of: layers.below)
        self.faults = faults
        self.key = key
        self.property = property
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
