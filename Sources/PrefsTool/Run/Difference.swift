import Foundation
import PersistentPreferences
import PrefsJSON

/// The differences between two states: one line for each place that was added, changed or removed. Dictionaries are
/// compared key by key.
struct Difference {
    private var lines: [(path: [String], old: StoredValue?, new: StoredValue?)] = []

    init(from before: [String: StoredValue], to after: [String: StoredValue], hiding secrets: Secrets) {
        add(before, after, [], secrets)
    }

    private mutating func add(
        _ before: [String: StoredValue], _ after: [String: StoredValue], _ path: [String], _ secrets: Secrets
    ) {
        let change = DictionaryDifference(from: before, to: after)
        for key in change.keys.sorted() {
            let (old, new, path) = (change.old[key], change.new[key], path + [key])
            if let old = old?.dictionary, let new = new?.dictionary, !secrets.contains(key) {
                add(old, new, path, secrets)
            } else {
                lines.append((path, old.map { secrets.shown($0, at: path) }, new.map { secrets.shown($0, at: path) }))
            }
        }
    }

    var isEmpty: Bool { lines.isEmpty }

    func outcome(_ invocation: Invocation) -> Outcome {
        invocation.wantsJSON
            ? Outcome(output: json, as: .json) : Outcome(output: text(invocation.context.outputStyle))
    }

    private func text(_ style: Style) -> String {
        if lines.isEmpty { return "nothing would change\n" }
        return lines.map { keys, old, new in
            let path = ValuePath(keys[0], keys.dropFirst().map(ValuePath.Step.key)).text
            let text =
                switch (old, new) {
                case (nil, let new?): style.green("+ \(path): \(ValueText.line(new))".printable)
                case (let old?, nil): style.red("- \(path): \(ValueText.line(old))".printable)
                case (let old, let new): style.yellow("~ \(path): \(Self.change(from: old, to: new))".printable)
                }
            return text + "\n"
        }.joined()
    }

    /// Returns `1 → 2`. Uses the lossless format of exports if the plain texts are equal, as for 1 and 1.0.
    private static func change(from old: StoredValue?, to new: StoredValue?) -> String {
        var texts = [old, new].map { $0.map(ValueText.line) ?? "" }
        if texts[0] == texts[1], texts[0] != ShownText.hidden {
            texts = [old, new].map { $0.map { exact($0).json } ?? "" }
        }
        return texts.joined(separator: " → ")
    }

    /// An array of objects with `path` (the keys from the top), `old` and `new`. A missing value is null.
    private var json: String {
        let objects = lines.map { path, old, new in
            JSONText.object([("path", path), ("old", old.map(Self.exact)), ("new", new.map(Self.exact))]).json
        }
        return "[\(objects.joined(separator: ",\n"))]\n"
    }

    /// Returns the lossless format of exports, or plain JSON if the value cannot be exported.
    private static func exact(_ value: StoredValue) -> JSONText {
        JSONText(json: (try? ExportFormat.json(of: value).trimmingCharacters(in: .newlines)) ?? value.json)
    }
}
