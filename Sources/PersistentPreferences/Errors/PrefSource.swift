/// The source of the value that is read for a key; see ``PrefHandle/source``.
///
/// ```swift
/// if case .layer(let name) = prefs.$fontSize.source { print("set by", name) }
/// ```
public enum PrefSource: Sendable, Hashable, CustomStringConvertible {
    /// The default in the code: neither the store nor a layer has a value that fits the property.
    case `default`
    /// The store.
    case stored
    /// A layer of a layered store; the text is ``PrefsLayer/name``.
    case layer(String)

    /// `default`, `stored` or the name of the layer.
    public var description: String {
        switch self {
        case .default: "default"
        case .stored: "stored"
        case .layer(let name): name
        }
    }
}
