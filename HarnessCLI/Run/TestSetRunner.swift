import Foundation
import PersistentPreferences
import PrefsTestSet

/// Runs the commands on the test set.
struct TestSetRunner {
    static let defaultSuite = "persistentpreferences.harness"

    let invocation: Invocation
    let prefs: PrefsTestSet
    let target: Target
    let file: String?

    init(_ invocation: Invocation) {
        self.invocation = invocation
        target = invocation.target ?? .suite(Self.defaultSuite)
        let store: any PrefsStore
        switch target {
        case .file(let path):
            store = Target.store(path, at: target.url ?? URL(filePath: path))
            file = target.url?.absoluteURL.path(percentEncoded: false)
        case .suite(let name):
            let defaults = UserDefaultsStore(suiteName: name)
            store = defaults
            file = defaults.fileURL?.path(percentEncoded: false)
        }
        if invocation.hasLayers {
            let above = invocation.layers.map { [PrefsLayer.environment(prefix: $0)] } ?? []
            let below = invocation.layerFiles.map { PrefsLayer.file(URL(filePath: $0.absolutePath)) }
            prefs = LayeredTestSet(
                key: invocation.root ?? "PrefsTestSet", store: LayeredStore(store, above: above, below: below))
        } else {
            prefs = PrefsTestSet(key: invocation.root, store: store)
        }
    }

    // MARK: - Commands

    func show() -> Outcome {
        var values = prefs.values
        let failure = prefs.lastError
        if let failure, !failure.returnsKnownState { return failed(failure) }
        var note = ""
        if failure == nil, values.isEmpty, invocation.root == nil, invocation.target == nil, prefs.isAbsent {
            // Only the default set gets its default values. A set that the user named is never created by a read.
            // One update, so that a value that another process stores at this moment is kept.
            let error = prefs.update {
                guard prefs.isAbsent else { return }
                prefs.reset()
                note = "prefs: nothing was stored yet; stored the default values\n"
            }
            if let error { return failed(error) }
            values = prefs.values
        }
        let (output, form): (String, OutputFormat) =
            invocation.wantsJSON ? (json(of: values), .json) : (table(of: values), .text)
        return Outcome(output: output, as: form, errors: note)
            .reporting(failure, asJSON: invocation.wantsJSON)
    }

    func get(_ name: String) -> Outcome {
        let key = key(name)
        let value = prefs[key.name]
        let failure = prefs.lastError
        if let failure, !failure.returnsKnownState { return failed(failure) }
        guard let value else {
            return failed("\(key.name) is not set").reporting(failure, asJSON: invocation.wantsJSON)
        }
        let (text, form): (String, OutputFormat) =
            invocation.wantsJSON ? (JSONText.value(value), .json) : (ValueText.line(value), ValueText.format(value))
        return Outcome(output: text + "\n", as: form)
            .reporting(failure, asJSON: invocation.wantsJSON)
    }

    func set(_ name: String, to text: String) -> Outcome {
        let key = key(name)
        do {
            prefs[key.name] = try ValueText.parse(text, as: key.type)
            return outcome()
        } catch {
            return .failure(
                "\(key.name): \(error)", code: Outcome.usageErrorCode, asJSON: invocation.wantsJSON)
        }
    }

    func watch(_ names: [String]) -> Outcome {
        do {
            let keys = names.map { key($0).name }
            try Watch(prefs, keys, asJSON: invocation.wantsJSON, target: target.name, file: file).run()
            return Outcome()
        } catch let error as PrefsError {
            return failed(error)
        } catch {
            return failed("standard output: \(error.localizedDescription)")
        }
    }

    func transfer() -> TransferRunner {
        TransferRunner(target: TestSetTarget(prefs: prefs), wantsJSON: invocation.wantsJSON)
    }

    func unset(_ name: String) -> Outcome {
        prefs[key(name).name] = nil
        return outcome()
    }

    func reset() -> Outcome {
        prefs.reset()
        return outcome()
    }

    func clear() -> Outcome {
        // Not `prefs.clear()`, which removes the root: the next command would then store the test set as at its first run.
        prefs.values = [:]
        return outcome()
    }

    func deleteAll() -> Outcome {
        prefs.deleteAll()
        return outcome()
    }

    // MARK: - Results

    /// Returns the key with that name or short name. An unknown name is passed on unchanged, and the preferences reject it.
    private func key(_ name: String) -> HarnessKey {
        HarnessKey.all(of: prefs).first { $0.name == name || $0.shortName == name }
            ?? HarnessKey(name: name, shortName: name, type: .string)
    }

    /// The outcome of a write: the error or warning of the last access.
    func outcome() -> Outcome {
        guard let error = prefs.lastError else { return Outcome() }
        return error.isWarning ? Outcome().reporting(error, asJSON: invocation.wantsJSON) : failed(error)
    }

    func failed(_ error: PrefsError) -> Outcome {
        failed(prefs.explain(error))
    }

    func failed(_ message: String) -> Outcome {
        .failure(message, asJSON: invocation.wantsJSON)
    }

    private func table(of values: [String: Any]) -> String {
        var head = Table()
        head.add("root", Self.cell(prefs.key))
        head.add("store", target.name)
        if let file { head.add("file", file) }
        var table = Table()
        if invocation.hasLayers {
            table.add("KEY", "SHORT", "TYPE", "SOURCE", "VALUE")
        } else {
            table.add("KEY", "SHORT", "TYPE", "VALUE")
        }
        for key in HarnessKey.all(of: prefs) {
            let text = values[key.name].map {
                Self.cell(ValueText.line($0)) + (key.fits($0) ? "" : "  (not of this type)")
            }
            let value = text ?? "(not set)"
            if invocation.hasLayers {
                table.add(key.name, key.shortName, key.type.rawValue, source(of: key), value)
            } else {
                table.add(key.name, key.shortName, key.type.rawValue, value)
            }
        }
        return head.text() + "\n" + table.text(head: Style(of: STDOUT_FILENO))
    }

    /// Truncates long values. `get` and JSON show them in full.
    private static func cell(_ text: String) -> String { ShownText.line(text, longest: 200) }

    /// `default`, `stored` or `layer NAME`: a layer may be named like one of the others.
    private func source(of key: HarnessKey) -> String {
        let source = prefs.source(ofKey: key.name)
        return if case .layer(let name) = source { "layer \(Self.cell(name))" } else { "\(source)" }
    }

    private func json(of values: [String: Any]) -> String {
        let head: [(String, Any)] = [("root", prefs.key), ("store", target.name)] + (file.map { [("file", $0)] } ?? [])
        let sources = Dictionary(
            uniqueKeysWithValues: HarnessKey.all(of: prefs).map { ($0.name, source(of: $0) as Any) })
        let layered: [(String, Any)] = invocation.hasLayers ? [("sources", sources)] : []
        return JSONText.object(head + [("values", values)] + layered) + "\n"
    }
}

extension PrefsTestSet {
    /// Describes an error. For an unknown key, suggests a similar key or lists the keys.
    func explain(_ error: PrefsError) -> String {
        guard case .incorrectKeys(let names) = error else { return error.description }
        let keys = HarnessKey.all(of: self)
        if let name = names.first, names.count == 1,
            let near = Suggestion.nearest(to: name, among: keys.flatMap { [$0.shortName, $0.name] })
        {
            return "no key `\(ShownText.key(name))`: did you mean `\(near)`?"
        }
        return "\(error); keys are \(keys.map { "\($0.shortName) (\($0.name))" }.joined(separator: ", "))"
    }

    /// True if the root itself is missing, not only its values.
    fileprivate var isAbsent: Bool {
        flush()
        if case .noStoredPrefsForKey = lastError { return true }
        return false
    }
}
