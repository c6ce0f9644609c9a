import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// What a command would lose because of one forgotten word. A person is asked about it, and a script needs `--force`.
struct Risks {
    private(set) var texts: [String] = []

    init() {}

    mutating func add(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }

    /// - Parameter place: the path of the value: `Editor.sizes[0]`.
    static func change(of old: StoredValue, to new: StoredValue, at place: String) -> String {
        "the \(ValueText.typeName(old)) `\(ShownText.key(place))` would become a value of type \(ValueText.typeName(new))"
    }

    func contains(_ others: Risks) -> Bool { Set(texts).isSuperset(of: others.texts) }

    /// Adds the dictionaries and arrays that another kind of value replaces.
    mutating func addReplaced(_ change: DictionaryDifference, _ parent: ValuePath?, in all: [String: StoredValue]) {
        for (key, old) in change.old.sorted(by: { $0.key < $1.key }) {
            let path = parent?.appending(.key(key)) ?? ValuePath(key)
            switch (old, change.new[key]) {
            case (.dictionary(let old), .dictionary(let new)?):
                addReplaced(DictionaryDifference(from: old, to: new), path, in: all)
            case (.array, .array?): break
            case (.dictionary, let new?), (.array, let new?):
                add(Self.change(of: old, to: new, at: path.text(in: all)))
            default: break
            }
        }
    }
}

extension Invocation {
    /// Asks before something is lost, unless the person has given `--force`.
    ///
    /// - Throws: `CommandError` if the person declines, or if there is no terminal to ask on.
    func confirm(_ risks: Risks) throws(CommandError) {
        guard !isForced, !risks.texts.isEmpty else { return }
        let text = risks.texts.joined(separator: "; ")
        guard isatty(context.input) == 1, isatty(context.errors) == 1 else {
            throw CommandError("\(text); --force does it; nothing has changed")
        }
        context.writeError("\(program.name): \(text.printable). Continue? [y/N] ")
        guard let answer = try? context.readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandError("nothing has changed")
        }
    }
}
