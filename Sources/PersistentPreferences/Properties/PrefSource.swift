/// Where the value of a key comes from; see ``PrefHandle/source``.
///
/// ```swift
/// if case .layer(let name) = prefs.$fontSize.source { print("set by", name) }
/// ```
public enum PrefSource: Sendable, Hashable, CustomStringConvertible {
    /// Nothing is stored, and no layer has a value: the default in the code is read.
    case `default`
    /// The store. Also if the stored value does not fit the property, so that the default is read.
    case stored
    /// A layer of a ``LayeredStore``; the text is ``PrefsLayer/name``.
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
