import Foundation
import PersistentPreferences

/// Carries out a command on any domain, in the manner of `defaults(1)`.
struct DomainRunner {
    private let place: Place
    private let domain: PropertyListDomain
    private let wantsJSON: Bool

    /// - Throws: `PrefsError`.
    init(_ place: Place, wantsJSON: Bool) throws {
        self.place = place
        self.wantsJSON = wantsJSON
        domain = try place.domain()
    }

    func transfer(root: String?) -> TransferRunner {
        TransferRunner(place: DomainPlace(domain: domain, root: root), wantsJSON: wantsJSON)
    }

    func read(root: String?, key: String?) throws -> Outcome {
        let (value, failure) = try value(root, key)
        return try outcome(value).telling(failure, asJSON: wantsJSON)
    }

    private func outcome(_ value: Any) throws -> Outcome {
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
        .telling(failure, asJSON: wantsJSON)
    }

    func write(root: String, key: String?, _ written: WrittenValue) throws -> Outcome {
        let warning = try domain.update { entries in
            guard let key else {
                entries[root] = try Self.added(written, to: entries[root])
                return
            }
            var values = try Self.dictionary(entries[root], root) ?? [:]
            values[key] = try Self.added(written, to: values[key])
            entries[root] = values
        }
        return Outcome().telling(warning, asJSON: wantsJSON)
    }

    func delete(root: String?, key: String?) throws -> Outcome {
        // What is not there is told before anything is locked, and again where somebody else was quicker.
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
        return Outcome().telling(warning, asJSON: wantsJSON)
    }

    // MARK: - Values

    /// With the error that tells of a malformed file, of whose newest known state the value is.
    private func value(_ root: String?, _ key: String?) throws -> (value: Any, failure: PrefsError?) {
        let (entries, failure) = try domain.entries()
        guard let entries else {
            if let failure { throw failure }
            throw Refusal("there is no \(place.name) here", at: domain.fileURL)
        }
        return (try Self.value(root, key, in: entries), failure)
    }

    private static func value(_ root: String?, _ key: String?, in entries: [String: Any]) throws -> Any {
        guard let root else { return entries }
        guard let entry = entries[root] else {
            throw Refusal("no root `\(ShownText.key(root))`", near: root, among: entries)
        }
        guard let key else { return entry }
        let values = try dictionary(entry, root) ?? [:]
        guard let value = values[key] else { throw Refusal("no key `\(ShownText.key(key))`", near: key, among: values) }
        return value
    }

    private static func dictionary(_ entry: Any?, _ root: String) throws -> [String: Any]? {
        guard let entry else { return nil }
        guard let values = entry as? [String: Any] else {
            throw Refusal("`\(ShownText.key(root))`: expected a dictionary, found type \(ValueText.typeName(entry))")
        }
        return values
    }

    private static func added(_ written: WrittenValue, to old: Any?) throws -> Any {
        guard written.isAdded, let old else { return written.value }
        switch (old, written.value) {
        case (let old as [Any], let new as [Any]): return old + new
        case (let old as [String: Any], let new as [String: Any]): return old.merging(new) { $1 }
        default: throw Refusal("what is there is of type \(ValueText.typeName(old)): nothing can be added to it")
        }
    }
}
