import Foundation
import PersistentPreferences

/// Lists and searches.
struct Domains {
    private let wantsJSON: Bool
    private let program: Program

    /// - Throws: `UsageError` if the user names a place as well.
    init(_ invocation: Invocation) throws(UsageError) {
        (wantsJSON, program) = (invocation.wantsJSON, invocation.program)
        if let option = [OptionSpec.place, .root, .layers, .layer].first(where: invocation.options.has) {
            throw UsageError("--domains takes all domains; leave out --domains or \(option.name)")
        }
    }

    /// The names of all UserDefaults domains.
    func list() throws -> Outcome {
        let names = try DomainNames.all()
        return wantsJSON
            ? Outcome(output: names.json + "\n", as: .json)
            : Outcome(output: names.map { $0.printable + "\n" }.joined())
    }

    /// The entries of all domains that can be read, and why others cannot.
    func entries() throws -> (domains: [String: StoredValue], failures: [String]) {
        var domains: [String: StoredValue] = [:]
        var failures: [String] = []
        for name in try DomainNames.all() {
            do {
                let (values, failure) = try Place(entriesOf: .suite(name), in: program).read()
                if let values { domains[name] = .dictionary(values) }
                if let failure { failures.append("\(failure)") }
            } catch {
                failures.append("\(error)")
            }
        }
        return (domains, failures)
    }
}

extension Runner {
    /// Prints each key that contains a word, and each value whose text contains it. Ignores case.
    func find() throws -> Outcome {
        let word = Data(invocation.operands[0].lowercased().utf8)
        var found: [(path: ValuePath, value: StoredValue)] = []
        func search(_ value: StoredValue, _ path: ValuePath) {
            if let members = value.dictionary {
                for (key, member) in members.sortedByBytes { visit(key, member, path.appending(.key(key))) }
            } else if let elements = value.array {
                for (index, element) in elements.enumerated() { search(element, path.appending(.index(index))) }
            } else if Self.contains(ValueText.searchText(value), word) {
                found.append((path, value))
            }
        }
        func visit(_ key: String, _ value: StoredValue, _ path: ValuePath) {
            let value = place.secrets.shown(value, at: path)
            if Self.contains(key, word) { found.append((path, value)) } else { search(value, path) }
        }
        var (values, failures): ([String: StoredValue], [String]) = ([:], [])
        if invocation.options.has(.domains) {
            (values, failures) = try Domains(invocation).entries()
            for (name, domain) in values.sortedByBytes { search(domain, ValuePath(name)) }
        } else {
            let (stored, failure) = try place.existing()
            values = stored
            failures = failure.map { ["\($0)"] } ?? []
            if place.prefs == nil {
                for (key, value) in values.sortedByBytes { visit(key, value, ValuePath(key)) }
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
            : wantsJSON ? try json(found) : text(found)
        return outcome.reporting(failures, asJSON: wantsJSON)
    }

    private static func contains(_ text: String, _ word: Data) -> Bool {
        word.isEmpty || Data(text.lowercased().utf8).range(of: word) != nil
    }

    private func text(_ found: [(path: ValuePath, value: StoredValue)]) -> Outcome {
        let lines = found.map { path, value in
            "\(path.text.printable): \(ShownText.line(ValueText.line(value), longest: 200))\n"
        }
        return Outcome(output: lines.joined())
    }

    private func json(_ found: [(path: ValuePath, value: StoredValue)]) throws -> Outcome {
        let objects = try found.map { path, value in
            let value = try ExportFormat.json(of: value).trimmingCharacters(in: .newlines)
            return JSONText.object([("path", path.names), ("value", JSONText(json: value))]).json
        }
        return Outcome(output: "[\(objects.joined(separator: ",\n"))]\n", as: .json)
    }
}
