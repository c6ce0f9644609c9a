import Foundation
import PersistentPreferences

/// Runs the commands on any domain, in the manner of `defaults(1)`.
struct DomainRunner {
    private let target: Target
    private let domain: PropertyListDomain
    private let wantsJSON: Bool

    /// - Throws: `PrefsError`.
    init(_ target: Target, wantsJSON: Bool) throws {
        self.target = target
        self.wantsJSON = wantsJSON
        domain = try target.domain()
    }

    func transfer(root: String?) -> TransferRunner {
        TransferRunner(target: DomainTarget(domain: domain, root: root), wantsJSON: wantsJSON)
    }

    func read(root: String?, key: String?) throws -> Outcome {
        let (value, failure) = try value(root, key)
        return try output(value).reporting(failure, asJSON: wantsJSON)
    }

    private func output(_ value: Any) throws -> Outcome {
        if !wantsJSON {
            if value is String || value is Date { return Outcome(output: ValueText.line(value) + "\n", as: .value) }
            if let data = value as? Data { return Outcome(output: data.hexadecimal + "\n") }
        }
        return Outcome(output: try ExportFormat.json(of: value), as: .json)
    }

    func readType(root: String, key: String?) throws -> Outcome {
        let (value, failure) = try value(root, key)
        let type = ValueText.typeName(value)
        return Outcome(
            output: (wantsJSON ? JSONText.object([("type", type)]) : type) + "\n", as: wantsJSON ? .json : .text
        )
        .reporting(failure, asJSON: wantsJSON)
    }

    func write(root: String, key: String?, _ parsed: ParsedValue) throws -> Outcome {
        let warning = try domain.update { entries in
            guard let key else {
                entries[root] = try Self.combined(parsed, to: entries[root])
                return
            }
            var values = try Self.dictionary(entries[root], root) ?? [:]
            values[key] = try Self.combined(parsed, to: values[key])
            entries[root] = values
        }
        return Outcome().reporting(warning, asJSON: wantsJSON)
    }

    func delete(root: String?, key: String?) throws -> Outcome {
        // Fails before the lock is taken if the value is missing. The update checks again, since another process may have removed it.
        _ = try value(root, key)
        let warning = try domain.update { entries in
            guard let root else {
                entries = [:]
                return
            }
            _ = try Self.value(root, key, in: entries)
            guard let key else {
                entries[root] = nil
                return
            }
            var values = try Self.dictionary(entries[root], root) ?? [:]
            values[key] = nil
            entries[root] = values
        }
        return Outcome().reporting(warning, asJSON: wantsJSON)
    }

    // MARK: - Values

    /// Returns a value. If the file is malformed, returns the value of its newest known state and the error.
    private func value(_ root: String?, _ key: String?) throws -> (value: Any, failure: PrefsError?) {
        let (entries, failure) = try domain.entries()
        guard let entries else {
            if let failure { throw failure }
            throw CommandError("\(target.name) not found", at: domain.fileURL)
        }
        return (try Self.value(root, key, in: entries), failure)
    }

    private static func value(_ root: String?, _ key: String?, in entries: [String: Any]) throws -> Any {
        guard let root else { return entries }
        guard let entry = entries[root] else {
            throw CommandError("no root `\(ShownText.key(root))`", near: root, among: entries)
        }
        guard let key else { return entry }
        let values = try dictionary(entry, root) ?? [:]
        guard let value = values[key] else {
            throw CommandError("no key `\(ShownText.key(key))`", near: key, among: values)
        }
        return value
    }

    private static func dictionary(_ entry: Any?, _ root: String) throws -> [String: Any]? {
        guard let entry else { return nil }
        guard let values = entry as? [String: Any] else {
            throw CommandError(
                "`\(ShownText.key(root))`: expected a dictionary, found type \(ValueText.typeName(entry))")
        }
        return values
    }

    private static func combined(_ parsed: ParsedValue, to old: Any?) throws -> Any {
        guard parsed.isAppended, let old else { return parsed.value }
        switch (old, parsed.value) {
        case (let old as [Any], let new as [Any]): return old + new
        case (let old as [String: Any], let new as [String: Any]): return old.merging(new) { $1 }
        default:
            throw CommandError(
                "cannot add to the existing value: expected type \(ValueText.typeName(parsed.value)), found type \(ValueText.typeName(old))"
            )
        }
    }
}
