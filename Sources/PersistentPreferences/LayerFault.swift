import PrefsPropertyLists

/// A layer, or an entry of it, that cannot be used; see ``PrefsError/invalidLayer(_:)``.
public struct LayerFault: Sendable, Hashable, CustomStringConvertible {
    /// The name of the layer.
    public let layer: String
    /// The variable, the argument, the path or the key; empty if the layer as a whole is at fault.
    public let place: String
    /// The problem, as a clause without a full stop. It may quote the text of a variable or an argument, escaped and
    /// shortened to 40 characters. It never quotes a stored value or a value of a file.
    public let reason: String

    package init(layer: String, place: String, reason: String) {
        (self.layer, self.place, self.reason) = (layer, place, reason)
    }

    /// One line: the layer, the place and the reason.
    public var description: String {
        let place = place.isEmpty || place == layer ? "" : ShownText.line(place, longest: 300) + ": "
        return "layer \(ShownText.line(layer, longest: 300)): \(place)\(ShownText.message(reason))"
    }
}

/// A key that a layer above the base sets; see ``PrefsError/coveredByLayer(_:)``.
public struct CoveredKey: Sendable, Hashable, CustomStringConvertible {
    /// The key.
    public let key: String
    /// The name of the layer.
    public let layer: String
    /// The variable, the argument, or the key and the path of the file.
    public let place: String

    package init(key: String, layer: String, place: String) {
        (self.key, self.layer, self.place) = (key, layer, place)
    }

    /// One line: `"size" is set by the layer environment (EDITOR_size)`.
    public var description: String {
        let place = place == key ? "" : " (\(ShownText.line(place, longest: 300)))"
        return "\"\(ShownText.key(key))\" is set by the layer \(ShownText.line(layer, longest: 300))\(place)"
    }
}
