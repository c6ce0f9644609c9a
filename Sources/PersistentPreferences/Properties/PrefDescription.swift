import PrefsPropertyLists

/// A description of one property of a class; see ``PersistentPrefs/describe()-type.method``.
///
/// ```swift
/// for property in prefs.describe() { print(property) }  // size: Int = 12, in 8...72
/// ```
public struct PrefDescription: CustomStringConvertible {
    /// The name of the property in the class.
    public let name: String
    /// The key that its value is stored under.
    public let key: String
    /// The type of its values.
    public let valueType: Any.Type
    /// The default, of type ``valueType``. For an optional type it may be nil.
    public let defaultValue: Any
    /// The constraint in words that complete "must be" or "must have" (`in 8...72`), or nil if the property accepts
    /// every value of its type.
    public let constraint: String?
    /// Whether the value is a secret that must not be shown: `@Pref(.sensitive)`, or in the description of an instance,
    /// because a layer of secrets has the key.
    public internal(set) var isSensitive: Bool
    /// The text of `.help("…")`.
    public let help: String?
    /// The keys of its value in former versions.
    public let formerKeys: [String]
    package let property: any DeclaredProperty
    /// Where the value of the instance comes from. nil in the description of a class, and if the root cannot be read.
    public internal(set) var source: PrefSource?

    init(_ declaration: ClassDeclarations.Declaration) {
        name = declaration.name
        key = declaration.key
        valueType = declaration.property.valueType
        defaultValue = declaration.property.anyDefaultValue
        constraint = declaration.property.constraintDescription
        property = declaration.property
        isSensitive = declaration.property.isSensitive
        help = declaration.property.help
        formerKeys = declaration.property.formerKeys
    }

    /// One line: `size: Int = 12, in 8...72, previously "fontsize"`. If a layer sets the value, `, set by environment`
    /// follows.
    public var description: String {
        "\(name == key ? key : "\(name) (\"\(key)\")"): \(valueType) = \(isSensitive ? ShownText.hidden : ShownText.value(defaultValue))"
            + (constraint.map { ", \($0)" } ?? "")
            + (formerKeys.isEmpty ? "" : ", previously " + formerKeys.map { "\"\($0)\"" }.joined(separator: ", "))
            + (layer.map { ", set by \(ShownText.line($0, longest: 300))" } ?? "")
    }

    private var layer: String? {
        if case .layer(let name)? = source { name } else { nil }
    }
}

/// The description of a description in `dump`.
extension PrefDescription: CustomReflectable {
    /// The line that `print` shows.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}
