import Foundation
import PersistentPreferences

/// Runs the commands on all UserDefaults domains.
struct DomainSearch {
    let wantsJSON: Bool

    func list() throws -> Outcome {
        let names = try DomainNames.all()
        return wantsJSON
            ? Outcome(output: names.json + "\n", as: .json)
            : Outcome(output: names.map { $0.printable + "\n" }.joined())
    }

    /// Prints the entries of all domains.
    func read() throws -> Outcome {
        let (domains, failures) = try entries()
        var all: [String: StoredValue] = [:]
        for (name, entries) in domains { all[name] = .dictionary(entries) }
        return reporting(failures, in: Outcome(output: try ExportFormat.json(of: .dictionary(all)), as: .json))
    }

    /// Prints each key that contains a word, and each value whose text contains it. Ignores case.
    func find(_ word: String) throws -> Outcome {
        let (domains, failures) = try entries()
        let word = Data(word.lowercased().utf8)
        var found: [(path: [String], value: StoredValue)] = []
        func search(_ value: StoredValue, _ path: [String]) {
            switch value {
            case .dictionary(let values):
                for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                    if Self.contains(key, word) {
                        found.append((path + [key], value))
                    } else {
                        search(value, path + [key])
                    }
                }
            case .array(let values):
                for (index, value) in values.enumerated() { search(value, path + ["[\(index)]"]) }
            default:
                let text = if case .data(let data) = value { data.hexadecimal } else { ValueText.line(value) }
                if Self.contains(text, word) { found.append((path, value)) }
            }
        }
        for (name, entries) in domains { search(.dictionary(entries), [name]) }
        guard !found.isEmpty else {
            return reporting(failures, in: .failure("no key and no value contains it", asJSON: wantsJSON))
        }
        return reporting(failures, in: wantsJSON ? try json(found) : text(found))
    }

    private static func contains(_ text: String, _ word: Data) -> Bool {
        word.isEmpty || Data(text.lowercased().utf8).range(of: word) != nil
    }

    private func text(_ found: [(path: [String], value: StoredValue)]) -> Outcome {
        let lines = found.map { path, value in
            let text = ShownText.line(ValueText.line(value), longest: 200)
            return "\(path.joined(separator: " > ").printable): \(text)\n"
        }
        return Outcome(output: lines.joined())
    }

    private func json(_ found: [(path: [String], value: StoredValue)]) throws -> Outcome {
        let objects = try found.map { path, value in
            let value = try ExportFormat.json(of: value).trimmingCharacters(in: .newlines)
            return JSONText.object([("path", path), ("value", JSONText(json: value))]).json
        }
        return Outcome(output: "[\(objects.joined(separator: ",\n"))]\n", as: .json)
    }

    // MARK: - Domains

    /// The entries of all domains that can be read, and why others cannot.
    private func entries() throws -> (domains: [(name: String, entries: [String: StoredValue])], failures: [String]) {
        var domains: [(String, [String: StoredValue])] = []
        var failures: [String] = []
        for name in try DomainNames.all() {
            do {
                let (entries, failure) = try Roots.ofSuite(name).entries()
                if let entries { domains.append((name, entries)) }
                if let failure { failures.append("\(failure)") }
            } catch {
                failures.append("\(error)")
            }
        }
        return (domains, failures)
    }

    private func reporting(_ failures: [String], in outcome: Outcome) -> Outcome {
        var outcome = outcome
        outcome.messages += failures.map { Outcome.Message(text: $0, isJSON: wantsJSON) }
        if !failures.isEmpty { outcome.code = Outcome.failureCode }
        return outcome
    }
}
