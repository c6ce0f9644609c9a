import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

extension Runner {
    /// Prints each key that contains a word, and each value whose text contains it. Ignores case.
    func find() throws -> Outcome {
        let word = Data(invocation.operands[0].lowercased().utf8)
        var found: [(path: ValuePath, value: StoredValue)] = []
        func search(_ value: StoredValue, _ path: ValuePath) {
            if let members = value.dictionary {
                for (key, member) in members.sortedByBytes { search(key, member, path.appending(.key(key))) }
            } else if let elements = value.array {
                for (index, element) in elements.enumerated() { search(element, path.appending(.index(index))) }
            } else if Self.contains(ValueText.searchText(value), word) {
                found.append((path, value))
            }
        }
        func search(_ key: String, _ value: StoredValue, _ path: ValuePath) {
            if Self.contains(key, word) { found.append((path, value)) } else { search(value, path) }
        }
        var failures: [String] = []
        var failure: PrefsError?
        var searched: [String: StoredValue] = [:]
        if invocation.options.has(.domains) {
            let domains = try Domains(invocation).entries()
            failures = domains.failures
            for (name, domain) in domains.domains.sortedByBytes { search(domain, ValuePath(name)) }
        } else {
            let values: [String: StoredValue]
            (values, failure) = try place.existing()
            searched = values
            if place.prefs == nil {
                for (key, value) in values.sortedByBytes {
                    search(key, place.secrets.shown(value, at: [key]), ValuePath(key))
                }
            }
            for key in place.keys {
                guard let value = place.effective(values[key.name], key.name) else { continue }
                let shown = place.secrets.shown(value, at: [key.name])
                let texts = [key.name, key.shortName, key.description?.help ?? ""]
                if texts.contains(where: { Self.contains($0, word) }) {
                    found.append((ValuePath(key.name), shown))
                } else {
                    search(shown, ValuePath(key.name))
                }
            }
        }
        let outcome =
            found.isEmpty
            ? Outcome.failure("no key and no value contains it", asJSON: wantsJSON)
            : wantsJSON
                ? try json(found)
                : Outcome(
                    output: found.map {
                        "\($0.text(in: searched).printable): \(ShownText.line(ValueText.line($1), longest: 200))\n"
                    }.joined())
        return outcome.reporting(failures, asJSON: wantsJSON).reporting(failure, asJSON: wantsJSON)
    }

    private static func contains(_ text: String, _ word: Data) -> Bool {
        word.isEmpty || Data(text.lowercased().utf8).range(of: word) != nil
    }

    private func json(_ found: [(path: ValuePath, value: StoredValue)]) throws -> Outcome {
        let objects = try found.map { path, value in
            let value = try ExportFormat.json(of: value).trimmingCharacters(in: .newlines)
            return JSONText.object([("path", path.names), ("value", JSONText(json: value))]).json
        }
        return Outcome(output: "[\(objects.joined(separator: ",\n"))]\n", as: .json)
    }
}
