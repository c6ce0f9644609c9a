import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// The differences between two states: the innermost places that were added, changed or removed. Dictionaries are
/// compared key by key. Arrays are compared element by element between their longest common start and end.
struct Difference {
    typealias Entry = (path: ValuePath, old: StoredValue?, new: StoredValue?)

    private(set) var entries: [Entry] = []
    private let secrets: Secrets
    /// What the paths lead through.
    private var values: [String: StoredValue] = [:]

    init(from before: [String: StoredValue], to after: [String: StoredValue], hiding secrets: Secrets) {
        self.secrets = secrets
        let change = DictionaryDifference(from: before, to: after)
        values = after.merging(change.old) { new, _ in new }
        for key in change.keys.sorted(by: { $0.precedes($1) }) {
            add(change.old[key], change.new[key], at: ValuePath(key))
        }
    }

    /// The differences at a place and in it.
    init(at path: ValuePath, from before: StoredValue?, to after: StoredValue?, hiding secrets: Secrets) {
        self.secrets = secrets
        add(before, after, at: path)
    }

    private mutating func add(_ old: StoredValue?, _ new: StoredValue?, at path: ValuePath) {
        if old == new { return }
        let isSecret = secrets.contains(path)
        if let old = old?.dictionary, let new = new?.dictionary, !isSecret {
            for key in old.merging(new, uniquingKeysWith: { $1 }).sortedByBytes.map(\.key) {
                add(old[key], new[key], at: path.appending(.key(key)))
            }
        } else if let old = old?.array, let new = new?.array, !isSecret {
            add(old, new, at: path)
        } else {
            entries.append((path, old.map { secrets.shown($0, at: path) }, new.map { secrets.shown($0, at: path) }))
        }
    }

    private mutating func add(_ old: [StoredValue], _ new: [StoredValue], at path: ValuePath) {
        let (start, end) = old.commonEnds(with: new)
        let (olds, news) = (old[start..<old.count - end], new[start..<new.count - end])
        // An index counts among the elements of the side that has it.
        for index in start..<max(olds.endIndex, news.endIndex) {
            let element = path.appending(.index(index))
            add(
                olds.indices.contains(index) ? olds[index] : nil, news.indices.contains(index) ? news[index] : nil,
                at: element)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    func outcome(_ invocation: Invocation) -> Outcome {
        invocation.wantsJSON
            ? Outcome(output: json, as: .json) : Outcome(output: text(invocation.context.outputStyle))
    }

    private func text(_ style: Style) -> String {
        if entries.isEmpty { return "nothing would change\n" }
        return entries.map { path, old, new in
            let path = path.text(in: values)
            let text =
                switch (old, new) {
                case (nil, let new?): style.green("+ \(path): \(Self.shown(new))".printable)
                case (let old?, nil): style.red("- \(path): \(Self.shown(old))".printable)
                case (let old, let new): style.yellow("~ \(path): \(Self.change(from: old, to: new))".printable)
                }
            return text + "\n"
        }.joined()
    }

    /// The text of a value; `""` for an empty one.
    static func shown(_ value: StoredValue) -> String {
        let text = ValueText.line(value)
        return text.isEmpty ? #""""# : text
    }

    /// Returns `1 → 2`. Uses the lossless format of exports if the plain texts are equal, as for 1 and 1.0.
    private static func change(from old: StoredValue?, to new: StoredValue?) -> String {
        var texts = [old, new].map { $0.map(shown) ?? "" }
        if texts[0] == texts[1], texts[0] != ShownText.hidden {
            texts = [old, new].map { $0.map(JSONWriter.line) ?? "" }
        }
        return texts.joined(separator: " → ")
    }

    /// An array of objects with `path` (the keys and indexes from the top), `old` and `new`. A missing value is null.
    private var json: String {
        let objects = entries.map { path, old, new in
            JSONText.object([("path", path.names), ("old", old.map(Self.exact)), ("new", new.map(Self.exact))]).json
        }
        return "[\(objects.joined(separator: ",\n"))]\n"
    }

    /// The lossless format of exports.
    static func exact(_ value: StoredValue) -> JSONText { JSONText(json: JSONWriter.line(of: value)) }
}

extension StoredValue {
    /// The value with integers in place of whole numbers: JSON has one type of numbers, so 14 and 14.0 are equal there.
    var withWholeNumbers: StoredValue {
        switch self {
        case .real(let number):
            // -0.0 is no integer.
            Int64(exactly: number).flatMap { number.sign == .minus && $0 == 0 ? nil : .integer($0) } ?? self
        case .array(let elements): .array(elements.map(\.withWholeNumbers))
        case .dictionary(let members): .dictionary(members.mapValues(\.withWholeNumbers))
        default: self
        }
    }
}
