public import PersistentPreferences
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
    public let isSensitive: Bool
    /// The text of `.help("…")`.
    public let help: String?
    /// The keys of its value in former versions.
    public let formerKeys: [String]
    package let property: any DeclaredProperty
    /// Where the value of the instance comes from. nil in the description of a class, and if the root cannot be read.
    public let source: PrefSource?

    init(_ declaration: ClassDeclarations.Declaration, source: PrefSource? = nil, isSecret: Bool = false) {
        name = declaration.name
        key = declaration.key
        valueType = declaration.property.valueType
        defaultValue = declaration.property.anyDefaultValue
        constraint = declaration.property.constraintDescription
        property = declaration.property
        isSensitive = isSecret || declaration.property.isSensitive
        self.source = source
        help = declaration.property.help
        formerKeys = declaration.property.formerKeys
    }

    /// The texts of all values that the property accepts, in their order, or nil if they cannot be listed.
    ///
    /// They are known for a `CaseIterable` type with at most 256 cases, for Bool (`true`, `false`) and for a list in a
    /// constraint; also in an optional. Values that another constraint rejects are left out. Each access makes the
    /// texts again.
    public var choices: [String]? { (property as? any TextProperty)?.choices }

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

extension PrefDescription: HidesValues {
    package var shownParts: KeyValuePairs<String, Any> { ["description": description] }
}

extension PersistentPrefs {
    /// The properties of the class in the order of their declaration, properties of base classes first.
    ///
    /// The first instance of the class finds them. If no instance has been created in this process, the call stops the
    /// program with a message that says so. Costs time linear in their number. Any thread.
    public static func describe() -> [PrefDescription] {
        knownDeclarations("describe()").declarations.map { PrefDescription($0) }
    }

    /// The properties of this instance's class, with the sources of their values. Costs a read. Does not change
    /// ``lastError``. Any thread.
    public func describe() -> [PrefDescription] {
        zip(declarations.declarations, sourcesOfDeclared()).map {
            PrefDescription($0, source: $1.source, isSecret: $1.isSecret)
        }
    }
}
