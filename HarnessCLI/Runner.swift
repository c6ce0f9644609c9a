import Foundation
import PersistentPreferences
import PrefsTestSet

/// Carries out one invocation on the test set.
struct Runner {
    static let defaultSuite = "persistentpreferences.harness"

    private let invocation: Invocation
    private let prefs: PrefsTestSet
    private let storeName: String
    private let file: String?

    init(_ invocation: Invocation) {
        self.invocation = invocation
        let store: any PrefsStore
        switch invocation.place {
        case .file(let path):
            let url = URL(filePath: path, directoryHint: path.hasSuffix("/") ? .isDirectory : .notDirectory)
            store = PropertyListFileStore(url: url)
            storeName = "property-list file"
            file = url.absoluteURL.path(percentEncoded: false)
        case .suite, nil:
            let suite = if case .suite(let name) = invocation.place { name } else { Self.defaultSuite }
            let defaults = UserDefaultsStore(suiteName: suite)
            store = defaults
            storeName = "UserDefaults suite \"\(suite)\""
            file = defaults.fileURL?.path(percentEncoded: false)
        }
        prefs = PrefsTestSet(key: invocation.root, store: store)
    }

    func run() -> Outcome {
        // Only the access that sets a damaged file aside hears of it, and that is the initializer's.
        if let error = prefs.lastError, case .damaged = error { return refused(error) }
        switch invocation.command {
        case .show: return show()
        case .get(let name): return get(key(name))
        case .set(let name, let text): return set(key(name), to: text)
        case .unset(let name): prefs[key(name).name] = nil
        case .reset: prefs.reset()
        case .clear: prefs.clear()
        case .deleteAll: prefs.deleteAll()
        case .watch(let names): return watch(names.map(key))
        case .export(let format, let path): return export(as: format, to: path)
        case .import(let path, let merge): return importValues(from: path, merge: merge)
        }
        return outcome()
    }

    // MARK: - Commands

    private func show() -> Outcome {
        var values = prefs.values
        if let error = prefs.lastError { return refused(error) }
        var note = ""
        if values.isEmpty, invocation.root == nil, invocation.place == nil, prefs.isAbsent {
            // The harness's own set is set up as the seed's apps set theirs up; what a user names is only looked at.
            // In one update, or a value that another process sets at this moment would be replaced.
            let error = prefs.update {
                guard prefs.isAbsent else { return }
                prefs.reset()
                note = "prefs: nothing was stored yet; stored the default values\n"
            }
            if let error { return refused(error) }
            values = prefs.values
        }
        return Outcome(output: invocation.wantsJSON ? json(of: values) : table(of: values), errors: note)
    }

    private func get(_ key: HarnessKey) -> Outcome {
        let value = prefs[key.name]
        if let error = prefs.lastError { return refused(error) }
        guard let value else { return refused("\(key.name) is not set") }
        return Outcome(output: (invocation.wantsJSON ? JSONText.value(value) : ValueText.line(value)) + "\n")
    }

    private func set(_ key: HarnessKey, to text: String) -> Outcome {
        do {
            prefs[key.name] = try ValueText.parse(text, as: key.type)
            return outcome()
        } catch {
            return .failure(
                "\(key.name): \(error)", code: Outcome.wrongUsage, asJSON: invocation.wantsJSON)
        }
    }

    private func watch(_ keys: [HarnessKey]) -> Outcome {
        // The keys of the set are known at once, so that a mistyped one is not waited for.
        do {
            try Watch(prefs, keys.map(\.name), asJSON: invocation.wantsJSON, place: file ?? storeName).run()
            return Outcome()
        } catch let error as PrefsError {
            return refused(error)
        } catch {
            return refused("standard output: \(error.localizedDescription)")
        }
    }

    private func export(as format: ExportFormat, to path: String?) -> Outcome {
        if format == .binary, path == nil, isatty(STDOUT_FILENO) == 1 {
            return .failure(
                "binary is nothing for a terminal; give a PATH, or redirect it", code: Outcome.wrongUsage,
                asJSON: invocation.wantsJSON)
        }
        guard let bytes = prefs.exported(as: format), prefs.lastError == nil else { return outcome() }
        guard let path else { return Outcome(bytes: bytes) }
        do {
            try TransferFile.write(bytes, to: absolute(path))
            return Outcome()
        } catch {
            return refused("\(error)")
        }
    }

    private func importValues(from path: String?, merge: Bool) -> Outcome {
        do {
            prefs.import(try TransferFile.read(path), merge: merge)
            return outcome()
        } catch {
            return refused("\(error)")
        }
    }

    private func absolute(_ path: String) -> String {
        path.utf8.first == UInt8(ascii: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    // MARK: - Words

    /// The key of that name or short name. Any other goes to the prefs as it is, which refuse it in their own words.
    private func key(_ name: String) -> HarnessKey {
        HarnessKey.all(of: prefs).first { $0.name == name || $0.shortName == name }
            ?? HarnessKey(name: name, shortName: name, type: .string)
    }

    private func outcome() -> Outcome {
        prefs.lastError.map(refused) ?? Outcome()
    }

    private func refused(_ error: PrefsError) -> Outcome {
        guard case .incorrectKeys = error else { return refused(error.description) }
        let known = HarnessKey.all(of: prefs).map { "\($0.shortName) (\($0.name))" }
        return refused("\(error); keys are \(known.joined(separator: ", "))")
    }

    private func refused(_ message: String) -> Outcome {
        .failure(message, asJSON: invocation.wantsJSON)
    }

    private func table(of values: [String: Any]) -> String {
        var place = Table()
        place.add("root", prefs.key)
        place.add("store", storeName)
        if let file { place.add("file", file) }
        var table = Table()
        table.add("KEY", "SHORT", "TYPE", "VALUE")
        for key in HarnessKey.all(of: prefs) {
            let text = values[key.name].map { ValueText.line($0) + (key.fits($0) ? "" : "  (not of this type)") }
            table.add(key.name, key.shortName, key.type.rawValue, text ?? "(not set)")
        }
        return place.text + "\n" + table.text
    }

    private func json(of values: [String: Any]) -> String {
        let place: [(String, Any)] = [("root", prefs.key), ("store", storeName)] + (file.map { [("file", $0)] } ?? [])
        return JSONText.object(place + [("values", values)]) + "\n"
    }
}

extension PrefsTestSet {
    /// True where the root itself is missing, not only its values.
    fileprivate var isAbsent: Bool {
        flush()
        if case .noStoredPrefsForKey = lastError { return true }
        return false
    }
}
