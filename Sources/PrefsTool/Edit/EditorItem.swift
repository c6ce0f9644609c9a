/// A value that the editor shows, with the values inside it.
struct EditorItem: Equatable {
    enum Content: Equatable {
        case notSet
        case set(String)
        case isDefault(String)
        /// A value that the program does not read, because its type or the constraint does not fit.
        case unfit(String, state: String)
        /// A value of a layer above the store, which a stored value would not replace.
        case ofLayer(String, name: String)
        /// A dictionary or an array.
        case container(count: Int)
    }

    let path: ValuePath
    let name: String
    let typeName: String
    var content = Content.notSet
    /// The type of a value in a domain; nil in a class, which declares its types, and for a value that cannot be
    /// edited.
    var type: PropertyListType?
    /// Whether the text is dots instead of a secret.
    var isHidden = false
    /// The texts of all values, if they can be listed.
    var choices: [String] = []
    /// A dictionary or an array, or the fields of a declared struct.
    var children: [EditorItem] = []
    /// The note in the line above the keys.
    var note = ""

    var isContainer: Bool {
        if case .container = content { true } else { !children.isEmpty }
    }

    /// Whether the value is true or false.
    var isSwitch: Bool { choices == ["true", "false"] && !isHidden }

    /// The text to begin an edit with.
    var editedText: String { isHidden ? "" : text }

    /// The text to show.
    var text: String {
        switch content {
        case .notSet: ""
        case .set(let text), .isDefault(let text), .unfit(let text, _), .ofLayer(let text, _): text
        case .container(0): "empty"
        case .container(1): typeName == "array" ? "1 element" : "1 entry"
        case .container(let count): "\(count) \(typeName == "array" ? "elements" : "entries")"
        }
    }

    /// All items from the top, each before those inside it.
    static func all(_ items: [EditorItem]) -> [EditorItem] {
        items.flatMap { [$0] + all($0.children) }
    }
}
