import Foundation
import PersistentPreferences
import PrefsTestSet

/// Carries out an export or an import, of whatever place.
struct TransferRunner {
    let place: any TransferPlace
    let wantsJSON: Bool

    func export(as format: ExportFormat, to path: String?) -> Outcome {
        if format == .binary, path == nil, isatty(STDOUT_FILENO) == 1 {
            return .failure(
                "binary is nothing for a terminal; give a PATH, or redirect it", code: Outcome.wrongUsage,
                asJSON: wantsJSON)
        }
        do {
            let (values, failure) = try place.values()
            let bytes = try format.data(of: values)
            guard let path else {
                return Outcome(bytes: bytes, as: OutputForm(format)).telling(failure, asJSON: wantsJSON)
            }
            try ExportFile.write(bytes, to: path.absolutePath)
            return Outcome().telling(failure, asJSON: wantsJSON)
        } catch {
            return .failure("\(error)", asJSON: wantsJSON)
        }
    }

    func importValues(from path: String?, merge: Bool, dryRun: Bool) -> Outcome {
        do {
            let bytes = try ExportFile.read(path?.absolutePath)
            guard dryRun else {
                return Outcome().telling(try place.store(bytes, merge: merge), asJSON: wantsJSON)
            }
            let (before, failure) = try place.values()
            let difference = Difference(
                from: before, to: try place.result(of: bytes, merge: merge, over: before),
                inside: place.holdsDictionaries)
            let (output, form): (String, OutputForm) =
                wantsJSON ? (difference.json, .json) : (difference.text(Style(of: STDOUT_FILENO)), .text)
            return Outcome(output: output, as: form).telling(failure, asJSON: wantsJSON)
        } catch {
            return .failure("\(error)", asJSON: wantsJSON)
        }
    }
}

/// Where exported values come from and imported ones go to.
protocol TransferPlace {
    /// Whether the values are roots, rather than values of one.
    var holdsDictionaries: Bool { get }
    /// With the error that tells of a malformed file, whose newest known state the values are.
    func values() throws -> (values: [String: Any], failure: PrefsError?)
    /// All or nothing. Gives a warning, if there is one.
    func store(_ bytes: Data, merge: Bool) throws -> PrefsError?
    /// What `store` would make of the values. Changes nothing.
    func result(of bytes: Data, merge: Bool, over values: [String: Any]) throws -> [String: Any]
}

/// The test set, whose keys and types are its own.
struct TestSetPlace: TransferPlace {
    let prefs: PrefsTestSet
    var holdsDictionaries: Bool { false }

    func values() throws -> (values: [String: Any], failure: PrefsError?) {
        let values = prefs.values
        if let error = prefs.lastError, !error.returnsKnownState { throw error }
        return (values, prefs.lastError)
    }

    func store(_ bytes: Data, merge: Bool) throws -> PrefsError? {
        if let error = prefs.import(bytes, merge: merge) { throw Refusal(prefs.explain(error)) }
        return prefs.lastError
    }

    func result(of bytes: Data, merge: Bool, over values: [String: Any]) throws -> [String: Any] {
        let copy = PrefsTestSet(key: prefs.key, values: values, store: InMemoryStore())
        if let error = copy.import(bytes, merge: merge) { throw Refusal(prefs.explain(error)) }
        return copy.values
    }
}

/// A whole domain, or one root of it.
struct DomainPlace: TransferPlace {
    let domain: PropertyListDomain
    let root: String?
    var holdsDictionaries: Bool { root == nil }

    func values() throws -> (values: [String: Any], failure: PrefsError?) {
        let (entries, failure) = try domain.entries()
        if let failure, !failure.returnsKnownState { throw failure }
        return (try values(in: entries ?? [:]), failure)
    }

    func store(_ bytes: Data, merge: Bool) throws -> PrefsError? {
        let imported = try ExportFormat.values(of: bytes)
        return try domain.update { entries in
            let values = Self.result(
                of: imported, merge: merge, over: try values(in: entries), inside: holdsDictionaries)
            if let root { entries[root] = values } else { entries = values }
        }
    }

    func result(of bytes: Data, merge: Bool, over values: [String: Any]) throws -> [String: Any] {
        let imported = try ExportFormat.values(of: bytes)
        let result = Self.result(of: imported, merge: merge, over: values, inside: holdsDictionaries)
        // A root is vetted as the one entry that changes.
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
        of imported: [String: Any], merge: Bool, over values: [String: Any], inside: Bool
    ) -> [String: Any] {
        guard merge else { return imported }
        return values.merging(imported) { old, new in
            guard inside, let old = old as? [String: Any], let new = new as? [String: Any] else { return new }
            return old.merging(new) { $1 }
        }
    }
}
