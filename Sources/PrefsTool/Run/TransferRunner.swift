import Foundation
import PersistentPreferences

/// Runs an export or an import.
struct TransferRunner {
    let target: any TransferTarget
    let wantsJSON: Bool

    func export(as format: ExportFormat, to path: String?) -> Outcome {
        if format == .binary, path == nil, isatty(STDOUT_FILENO) == 1 {
            return .failure(
                "binary output cannot be written to a terminal; give a PATH or redirect the output",
                code: Outcome.usageErrorCode,
                asJSON: wantsJSON)
        }
        do {
            let (values, failure) = try target.values()
            let bytes = try format.data(of: values)
            guard let path else {
                return Outcome(bytes: bytes, as: OutputFormat(format)).reporting(failure, asJSON: wantsJSON)
            }
            try ExportFile.write(bytes, to: path.absolutePath)
            return Outcome().reporting(failure, asJSON: wantsJSON)
        } catch {
            return .failure("\(error)", asJSON: wantsJSON)
        }
    }

    func importValues(from path: String?, merge: Bool, dryRun: Bool) -> Outcome {
        do {
            let bytes = try ExportFile.read(path?.absolutePath)
            guard dryRun else {
                return Outcome().reporting(try target.store(bytes, merge: merge), asJSON: wantsJSON)
            }
            let (before, failure) = try target.values()
            let difference = Difference(
                from: before, to: try target.result(of: bytes, merge: merge, over: before),
                nested: target.containsRoots)
            let (output, outputFormat): (String, OutputFormat) =
                wantsJSON ? (difference.json, .json) : (difference.text(Style(of: STDOUT_FILENO)), .text)
            return Outcome(output: output, as: outputFormat).reporting(failure, asJSON: wantsJSON)
        } catch {
            return .failure("\(error)", asJSON: wantsJSON)
        }
    }
}

/// The source of an export and the destination of an import.
protocol TransferTarget {
    /// True if the values are the roots of a domain, false if they are the values of one root.
    var containsRoots: Bool { get }
    /// Returns the values. If the file is malformed, returns its newest known state and the error.
    func values() throws -> (values: [String: Any], failure: PrefsError?)
    /// Imports all values or none. Returns the warning of the write, if any.
    func store(_ bytes: Data, merge: Bool) throws -> PrefsError?
    /// Returns the values that `store` would produce. Changes nothing.
    func result(of bytes: Data, merge: Bool, over values: [String: Any]) throws -> [String: Any]
}

/// The preferences of the program, which accept their own keys and types only.
struct ClassTarget: TransferTarget {
    private let runner: PrefsRunner
    private var prefs: PersistentPrefs { runner.prefs }

    init(_ runner: PrefsRunner) {
        self.runner = runner
    }

    var containsRoots: Bool { false }

    func values() throws -> (values: [String: Any], failure: PrefsError?) {
        let values = prefs.values
        if let error = prefs.lastError, !error.returnsKnownState { throw error }
        return (values, prefs.lastError)
    }

    func store(_ bytes: Data, merge: Bool) throws -> PrefsError? {
        if let error = prefs.import(bytes, merge: merge) { throw CommandError(runner.explain(error)) }
        return prefs.lastError
    }

    func result(of bytes: Data, merge: Bool, over values: [String: Any]) throws -> [String: Any] {
        let copy = runner.program.make(prefs.key, InMemoryStore())
        copy.values = values
        if let error = copy.import(bytes, merge: merge) { throw CommandError(runner.explain(error)) }
        return copy.values
    }
}

/// A whole domain, or one root of it.
struct DomainTarget: TransferTarget {
    let domain: PropertyListDomain
    let root: String?
    var containsRoots: Bool { root == nil }

    func values() throws -> (values: [String: Any], failure: PrefsError?) {
        let (entries, failure) = try domain.entries()
        if let failure, !failure.returnsKnownState { throw failure }
        return (try values(in: entries ?? [:]), failure)
    }

    func store(_ bytes: Data, merge: Bool) throws -> PrefsError? {
        let imported = try ExportFormat.values(of: bytes)
        return try domain.update { entries in
            let values = Self.result(
                of: imported, merge: merge, over: try values(in: entries), nested: containsRoots)
            if let root { entries[root] = values } else { entries = values }
        }
    }

    func result(of bytes: Data, merge: Bool, over values: [String: Any]) throws -> [String: Any] {
        let imported = try ExportFormat.values(of: bytes)
        let result = Self.result(of: imported, merge: merge, over: values, nested: containsRoots)
        // Vets the root as the only entry that changes.
        guard let root else { return try PropertyListDomain.changed(values, to: result) }
        return try PropertyListDomain.changed([root: values], to: [root: result])[root] as? [String: Any] ?? [:]
    }

    private func values(in entries: [String: Any]) throws -> [String: Any] {
        guard let root else { return entries }
        guard let entry = entries[root] else { return [:] }
        guard let values = entry as? [String: Any] else { throw PrefsError.rootIsNotDictionary(key: root) }
        return values
    }

    private static func result(
        of imported: [String: Any], merge: Bool, over values: [String: Any], nested: Bool
    ) -> [String: Any] {
        guard merge else { return imported }
        return values.merging(imported) { old, new in
            guard nested, let old = old as? [String: Any], let new = new as? [String: Any] else { return new }
            return old.merging(new) { $1 }
        }
    }
}
