import Foundation
import PersistentPreferences

/// Runs the commands on any domain, in the manner of `defaults(1)`.
struct DomainRunner {
    let target: Target
    let domain: Roots
    let invocation: Invocation
    let program: Program
    let confirmation: Confirmation
    var wantsJSON: Bool { invocation.wantsJSON }

    /// - Throws: `PrefsError`.
    init(_ target: Target, _ invocation: Invocation, of program: Program) throws {
        self.target = target
        self.invocation = invocation
        self.program = program
        confirmation = Confirmation(program: program, isForced: invocation.isForced)
        domain = try target.domain()
    }

    // MARK: - Reading

    func read(_ place: DomainPlace) throws -> Outcome {
        let (value, failure) = try value(place)
        return try output(value).reporting(failure, asJSON: wantsJSON)
    }

    private func output(_ value: StoredValue) throws -> Outcome {
        switch value {
        case .string where !wantsJSON, .date where !wantsJSON:
            Outcome(output: ValueText.line(value) + "\n", as: .value)
        case .data(let data) where !wantsJSON: Outcome(output: data.hexadecimal + "\n")
        default: Outcome(output: try ExportFormat.json(of: value), as: .json)
        }
    }

    func readType(_ place: DomainPlace) throws -> Outcome {
        let (value, failure) = try value(place)
        let type = ValueText.typeName(value)
        return Outcome(
            output: (wantsJSON ? JSONText.object([("type", type)]).json : type) + "\n", as: wantsJSON ? .json : .text
        )
        .reporting(failure, asJSON: wantsJSON)
    }

    /// - Throws: an error if the domain or the root does not exist.
    func export(as format: ExportFormat, to path: String?) throws -> Outcome {
        let (value, failure) = try value(DomainPlace(root: invocation.root, key: nil))
        guard let values = value.dictionary else {
            throw PrefsError.rootIsNotDictionary(key: invocation.root ?? "")
        }
        return try Export(values: values, failure: failure).run(
            as: format, to: path, confirmation, wantsJSON: wantsJSON)
    }

    /// Returns a value. If the file is malformed, returns the value of its newest known state and the error.
    private func value(_ place: DomainPlace) throws -> (value: StoredValue, failure: PrefsError?) {
        let (entries, failure) = try domain.entries()
        guard let entries else {
            if let failure { throw failure }
            throw CommandError("\(target.name) not found", at: domain.fileURL)
        }
        return (try place.existingValue(in: entries), failure)
    }

    // MARK: - Writing

    /// - Parameter expected: what the place must hold, or nothing is stored.
    func write(_ place: DomainPlace, _ parsed: ParsedValue, expected: String?) throws -> Outcome {
        try change { entries, risks in
            let old = try place.value(in: entries)
            if let expected {
                guard ValueText.readings(of: expected, like: old).contains(where: { $0 == old }) else {
                    throw CommandError("\(place.name) is \(old.map(ValueText.line) ?? "not set"), not \(expected)")
                }
            }
            var new = try Self.combined(parsed, to: old)
            if let old, ValueText.typeName(old) != ValueText.typeName(new) {
                if let text = parsed.text, let value = ParsedValue.value(of: text, like: old) {
                    new = value
                } else if parsed.text != nil || old.isContainer {
                    risks.add(Risks.change(of: old, to: new, at: try place.trail(in: entries)))
                }
            }
            try place.replace(with: new, in: &entries)
        }
    }

    func rename(_ place: DomainPlace, to name: String) throws -> Outcome {
        try change { entries, risks in
            if try place.rename(to: name, in: &entries) {
                risks.add("`\(ShownText.key(name))` exists and would be lost")
            }
        }
    }

    func delete(_ place: DomainPlace) throws -> Outcome {
        // The domain has to exist.
        _ = try value(place)
        return try change { entries, risks in
            let old = try place.existingValue(in: entries)
            if place.root == nil {
                if !entries.isEmpty { risks.add("all entries of the \(target.name) would be removed") }
            } else if old.isContainer {
                let name = ShownText.key(try place.trail(in: entries))
                risks.add("the \(ValueText.typeName(old)) `\(name)` would be removed")
            }
            try place.replace(with: nil, in: &entries)
        }
    }

    /// Stores the values of a file, or of the standard input.
    func importValues(from path: String?, merge: Bool) throws -> Outcome {
        let imported = try ExportFormat.values(of: ExportFile.read(path?.absolutePath, orInput: program.context.input))
        return try change { entries, risks in
            guard let root = invocation.root else {
                if !merge, imported.isEmpty, !entries.isEmpty {
                    risks.add("all entries of the \(target.name) would be removed")
                }
                entries = merge ? Self.merged(entries, imported, nested: true) : imported
                return
            }
            guard var values = entries[root, default: .dictionary([:])].dictionary else {
                throw PrefsError.rootIsNotDictionary(key: root)
            }
            values = merge ? Self.merged(values, imported, nested: false) : imported
            entries[root] = .dictionary(values)
        }
    }

    private static func merged(
        _ old: [String: StoredValue], _ new: [String: StoredValue], nested: Bool
    ) -> [String: StoredValue] {
        old.merging(new) { old, new in
            guard nested, let old = old.dictionary, let members = new.dictionary else { return new }
            return .dictionary(old.merging(members) { $1 })
        }
    }

    private static func combined(_ parsed: ParsedValue, to old: StoredValue?) throws -> StoredValue {
        guard parsed.isAppended, let old else { return parsed.value }
        switch (old, parsed.value) {
        case (.array(let old), .array(let new)): return .array(old + new)
        case (.dictionary(let old), .dictionary(let new)): return .dictionary(old.merging(new) { $1 })
        default:
            throw CommandError(
                "cannot add to the existing value: expected type \(ValueText.typeName(parsed.value)), found type \(ValueText.typeName(old))"
            )
        }
    }
}
