import Foundation
import PersistentPreferences
import PrefsFileEngine

/// Values that are written to a file, or to the standard output.
struct Export {
    let values: [String: StoredValue]
    /// The error that the values are the newest known state of a malformed file.
    let failure: PrefsError?

    /// - Parameter confirmation: asks before a file is replaced.
    func run(
        as format: ExportFormat, to path: String?, _ confirmation: Confirmation, wantsJSON: Bool
    ) throws -> Outcome {
        if format == .binary, path == nil, isatty(confirmation.program.context.output) == 1 {
            throw UsageError("binary output cannot be written to a terminal; give -o PATH or redirect the output")
        }
        let bytes = try format.data(of: values)
        guard let path else {
            return Outcome(bytes: bytes, as: OutputFormat(format)).reporting(failure, asJSON: wantsJSON)
        }
        let file = (try? SidecarPaths(path: path.absolutePath).file) ?? path.absolutePath
        var risks = Risks()
        // The write rejects what is neither missing nor a file.
        let isReplaced = ExportFile.openDescriptor(path.absolutePath) == nil && FileMetadata(file)?.isFile == true
        if isReplaced { risks.add("\(path) exists and would be replaced") }
        try confirmation.require(risks)
        let former = isReplaced ? try? Data(contentsOf: URL(filePath: file)) : nil
        try ExportFile.write(bytes, to: path.absolutePath)
        if let former { FileReplacement.observer?(FileReplacement(path: file, before: former, after: bytes)) }
        return Outcome().reporting(failure, asJSON: wantsJSON)
    }
}

/// Runs an export or an import of the preferences of the program, which accept their own keys and types only.
struct TransferRunner {
    private let runner: PrefsRunner
    private var prefs: PersistentPrefs { runner.prefs }
    private var wantsJSON: Bool { runner.invocation.wantsJSON }

    init(_ runner: PrefsRunner) {
        self.runner = runner
    }

    func export(as format: ExportFormat, to path: String?) throws -> Outcome {
        let (values, failure) = try values()
        let shown = runner.secrets.removed(from: values)
        var outcome = try Export(values: shown, failure: failure).run(
            as: format, to: path,
            Confirmation(program: runner.program, isForced: runner.invocation.isForced), wantsJSON: wantsJSON)
        let hidden = values.keys.filter { shown[$0] == nil }.sorted()
        if !hidden.isEmpty {
            let text = "left out, because sensitive: \(hidden.joined(separator: ", ")); --reveal exports them"
            outcome.messages.append(Outcome.Message(text: text, isError: false, isJSON: wantsJSON))
        }
        return outcome
    }

    /// Stores all values of a file or none.
    func importValues(from path: String?, merge: Bool) throws -> Outcome {
        let bytes = try ExportFile.read(path?.absolutePath, orInput: runner.program.context.input)
        guard runner.invocation.isDryRun else {
            try runner.requireWholeFile()
            return try DomainRunner.outcome(asJSON: wantsJSON) {
                if let error = Self.store(bytes, merge: merge, in: prefs) { throw explained(error) }
                return prefs.lastError
            }
        }
        let (stored, failure) = try values()
        // What does not fit cannot be stored in the copy.
        let before = stored.filter { prefs.mismatch(of: $0.value, forKey: $0.key) == nil }
        return Difference(
            from: before, to: try result(of: bytes, merge: merge, over: before), nested: false,
            hiding: runner.secrets
        )
        .outcome(asJSON: wantsJSON, in: runner.program.context).reporting(failure, asJSON: wantsJSON)
    }

    private func values() throws -> (values: [String: StoredValue], failure: PrefsError?) {
        let values = prefs.storedValues
        if let error = prefs.lastError, !error.returnsKnownState { throw explained(error) }
        return (values, prefs.lastError)
    }

    /// The values that an import would produce.
    private func result(
        of bytes: Data, merge: Bool, over values: [String: StoredValue]
    ) throws -> [String: StoredValue] {
        let copy = runner.program.make(prefs.key, InMemoryStore())
        copy.values = values.objects
        if let error = Self.store(bytes, merge: merge, in: copy) { throw explained(error) }
        return copy.storedValues
    }

    /// Sensitive values that the bytes lack stay, because an export leaves them out.
    private static func store(_ bytes: Data, merge: Bool, in prefs: PersistentPrefs) -> PrefsError? {
        if merge { return prefs.import(bytes, merge: true) }
        return prefs.update {
            let kept = prefs.storedValues.filter { prefs.isSensitive($0.key) }
            prefs.import(bytes, merge: false)
            let now = prefs.storedValues
            for (key, value) in kept where now[key] == nil { prefs[key] = value.object }
        }
    }

    private func explained(_ error: PrefsError) -> any Error {
        error.wasStored ? error : CommandError(runner.explain(error))
    }
}
