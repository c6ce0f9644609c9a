import PersistentPreferences
import PrefsPropertyLists

/// A key of a class, for the names that it has in a layer of text.
struct TextKey {
    let name: String
    /// Whether the option of the key needs no value, because the property is a Bool.
    let isFlag: Bool
    /// Whether an option that is repeated adds to the value, because the property is a list or a set.
    let isList: Bool
    /// The fields of the value, if it is a Codable struct.
    let fields: [String]
}

/// The text of one key in the environment, in the arguments or in a folder of secrets.
struct LayerText: Sendable {
    /// The variable or the argument that was given.
    let place: String
    let content: Content

    enum Content: Sendable, Equatable {
        case text(String)
        /// An empty text that means nil if the property is optional.
        case empty
        /// The texts of an option that is repeated, for a list.
        case texts([String])
        /// Why it has no text.
        case flaw(reason: String)

        /// Of bytes that are not UTF-8. A repaired text would be another value.
        static let notText = flaw(reason: "is not UTF-8")
    }

    /// The first dictionary that the text may stand for.
    var dictionary: StoredValue? {
        guard case .text(let text) = content else { return nil }
        return TextForms(text).values.first { $0.dictionary != nil }
    }
}

/// Something to say about a name, such as a variable that is ignored, or about a file.
struct NameNote: Sendable, Hashable {
    /// The variable or the argument.
    let place: String
    let reason: String
    var kind = PrefsProblem.Kind.unknownKey
}

/// What a layer of text has for the keys of a class.
struct KeyTexts: Sendable {
    /// The texts by key.
    var texts: [String: LayerText] = [:]
    /// The texts of single fields, by key and field.
    var fields: [String: [String: LayerText]] = [:]
    /// By key, the name that the key shares with another one. It stands for neither of them.
    var sharedNames: [String: NameNote] = [:]
    /// Variables that are ignored, because the key has another one, and files that others may write.
    var notes: [NameNote] = []
    /// The indices of the items of the source that belong to keys.
    var used: Set<Int> = []

    /// Adds a text that follows the others of its key: to those of a list, and in place of any other text. A list with an
    /// option that has no value has none.
    mutating func add(_ text: LayerText, to key: TextKey) {
        guard key.isList, let last = texts[key.name] else {
            texts[key.name] = text
            return
        }
        let content: LayerText.Content =
            switch (last.content, text.content) {
            case (.text(let first), .text(let next)): .texts([first, next])
            case (.texts(let others), .text(let next)): .texts(others + [next])
            case (.flaw, _): last.content
            case (_, let next): next
            }
        texts[key.name] = LayerText(place: text.place, content: content)
    }
}

/// A type whose values are lists.
protocol ListValue {
    static var elementType: Any.Type { get }
}

extension Array: ListValue { static var elementType: Any.Type { Element.self } }
extension ContiguousArray: ListValue { static var elementType: Any.Type { Element.self } }
extension Set: ListValue { static var elementType: Any.Type { Element.self } }

/// The texts of a process: its environment or its arguments.
protocol TextSource: Sendable {
    /// The names of variables, or the arguments.
    var items: [String] { get }
    /// - Parameter keys: the keys of a class, each of them once.
    func texts(for keys: [TextKey]) -> KeyTexts
    /// All names of a key, the one for people first. A name that other keys share is among them.
    func names(of key: TextKey) -> [String]
    /// The names of its fields for people.
    func namesOfFields(of key: TextKey) -> [String]
    /// What to say about items that belong to no key. An item that may be meant for something else gets no note.
    ///
    /// - Parameter names: the names of all keys.
    func notes(aboutUnused items: [String], names: [String]) -> [NameNote]
}

extension TextSource {
    func namesOfFields(of key: TextKey) -> [String] { [] }

    /// The keys by the name that each key gets, and the notes about names that several keys get.
    func owners(
        of keys: [TextKey], name: (TextKey) -> String?, place: (String) -> String = { $0 }, kind: String
    ) -> (byName: [String: TextKey], shared: [String: NameNote]) {
        var all: [String: [TextKey]] = [:]
        for key in keys { if let name = name(key) { all[name, default: []].append(key) } }
        var shared: [String: NameNote] = [:]
        for (name, keys) in all where keys.count > 1 {
            let list = keys.map { "\"\(ShownText.key($0.name))\"" }.joined(separator: " and ")
            let note = NameNote(
                place: place(name), reason: "the keys \(list) have one \(kind); give one of them another key")
            for key in keys { shared[key.name] = note }
        }
        return (all.compactMapValues { $0.count == 1 ? $0[0] : nil }, shared)
    }
}

extension NameNote {
    /// That others may write a file or, at an empty place, its folder.
    init(writable mode: UInt32, at place: String) {
        let mode = String(mode & 0o777, radix: 8)
        self.init(
            place: place, reason: "other users may write it (mode \(mode)); run chmod go-w", kind: .permissions)
    }
}
