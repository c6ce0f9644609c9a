import Foundation
import PersistentPreferences

/// Runs the commands on the preferences of the program.
struct PrefsRunner {
    let invocation: Invocation
    let program: Program
    private(set) var prefs: PersistentPrefs
    let keys: [PrefsKey]
    let secrets: Secrets
    let target: Target?

    init(_ invocation: Invocation, of program: Program) {
        self.invocation = invocation
        self.program = program
        target = invocation.target ?? program.target
        var store = invocation.store ?? invocation.target?.store
        if invocation.hasLayers, let target {
            let above =
                invocation.layers.map { [PrefsLayer.environment(prefix: $0, in: program.context.environment)] } ?? []
            let below = invocation.layerFiles.map { PrefsLayer.file(URL(filePath: $0.absolutePath)) }
            store = LayeredStore(store ?? target.store, above: above, below: below)
        }
        prefs = program.make(invocation.root, store)
        keys = PrefsKey.all(of: prefs)
        secrets = Secrets(of: prefs, reveals: invocation.reveals)
    }

    // MARK: - Reading

    func show() -> Outcome {
        let values = prefs.storedValues
        let failure = prefs.lastError
        if let failure, !failure.returnsKnownState { return failed(failure) }
        let (output, form): (String, OutputFormat)
        do {
            (output, form) = invocation.wantsJSON ? (try json(of: values), .json) : (table(of: values), .text)
        } catch {
            return failed("\(error)")
        }
        return Outcome(output: output, as: form).reporting(failure, asJSON: invocation.wantsJSON)
    }

    /// Prints the value that the program reads; with `stored` only what is stored.
    func get(_ name: String, stored: Bool, defaultText: String?) -> Outcome {
        let path = path(name)
        var value = prefs.storedValue(forKey: path.root)
        let failure = prefs.lastError
        if let failure, !failure.returnsKnownState { return failed(failure) }
        if !stored {
            value = effective(value, path.root)
        } else if case .layer = prefs.source(ofKey: path.root) {
            value = nil
        }
        guard let found = path.value(in: value) else {
            if let defaultText { return Outcome(output: defaultText + "\n", as: .value) }
            return failed("\(name) is not set").reporting(failure, asJSON: invocation.wantsJSON)
        }
        let shown = secrets.shown(found, at: [path.root])
        let (text, form): (String, OutputFormat) =
            invocation.wantsJSON ? (shown.json, .json) : (ValueText.line(shown), ValueText.format(shown))
        return Outcome(output: text + "\n", as: form).reporting(failure, asJSON: invocation.wantsJSON)
    }

    func watch(_ names: [String]) -> Outcome {
        do {
            let source = ClassWatchSource(
                prefs: prefs, keys: names.map { path($0).root }, secrets: secrets, file: file, storeName: storeName)
            try Watch(source, of: program, asJSON: invocation.wantsJSON).run()
            return Outcome()
        } catch let error as PrefsError {
            return failed(error)
        } catch {
            return failed("standard output: \(error.localizedDescription)")
        }
    }

    /// Watches a domain, or keys if the first word is one. A word that is neither is reported as an unknown key.
    func watchDomain(_ words: [String]) throws -> Outcome {
        let target = Target(domain: words[0])
        if keys.contains(where: { $0.name == path(words[0]).root }) { return watch(words) }
        let domain = try target.domain()
        // A file may appear later.
        if target.suite != nil, case (nil, nil)? = try? domain.entries() { return watch(words) }
        do {
            let source = try DomainWatchSource(domain, name: target.name, Array(words.dropFirst()))
            try Watch(source, of: program, asJSON: invocation.wantsJSON).run()
            return Outcome()
        } catch let error as CocoaError {
            return failed("standard output: \(error.localizedDescription)")
        }
    }

    func schema() -> Outcome { Outcome(bytes: prefs.jsonSchema(), as: .json) }

    // MARK: - Writing

    /// Stores values, all or none.
    ///
    /// - Parameter expected: what the first key must read as, or nothing is stored.
    func set(_ assignments: [(key: String, text: String)], expected: String?) -> Outcome {
        change { runner in
            if let expected, let first = assignments.first { try runner.check(first.key, is: expected) }
            for (name, text) in assignments { try runner.assign(text, to: runner.path(name)) }
        }
    }

    func unset(_ names: [String]) -> Outcome {
        let paths = names.map { path($0) }
        let elements = paths.filter { $0.steps.contains { if case .index = $0 { true } else { false } } }
        if elements.contains(where: { element in paths.count { $0.root == element.root } > 1 }) {
            return failed("each removal moves the elements after it; remove the elements of an array one by one")
        }
        return change { runner in
            for name in names {
                let path = runner.path(name)
                if path.steps.isEmpty {
                    try runner.store(nil, path.root)
                } else {
                    try runner.replace(path, with: nil)
                }
            }
        }
    }

    /// Removes all values, so that the program reads its defaults.
    func reset() -> Outcome {
        change { runner in
            runner.prefs.clear()
            if let error = runner.prefs.lastError, !error.wasStored { throw error }
        }
    }

    /// Adds to a number.
    func increment(_ name: String, by text: String) -> Outcome {
        change { runner in
            let path = runner.path(name)
            try runner.replace(path, with: try Arithmetic.sum(of: runner.value(at: path), and: text, name))
        }
    }

    func toggle(_ name: String) -> Outcome {
        change { runner in
            let path = runner.path(name)
            guard case .bool(let value)? = runner.value(at: path) else {
                throw CommandError("`\(ShownText.key(name))` is not a Bool")
            }
            try runner.replace(path, with: .bool(!value))
        }
    }

    /// Makes a change in one transaction, all or nothing. It is rehearsed in memory first, so that a change that is rejected, changes
    /// nothing, or is a dry run takes no lock and leaves no trace.
    private func change(_ body: (PrefsRunner) throws -> Void) -> Outcome {
        do {
            try requireWholeFile()
            if let done = try rehearse(body) { return done }
            let failure = try prefs.update { try body(self) } ?? prefs.lastError
            guard let failure else { return Outcome() }
            return failure.wasStored ? Outcome().reporting(failure, asJSON: invocation.wantsJSON) : failed(failure)
        } catch let error as PrefsError {
            return failed(error)
        } catch {
            return .failure(
                "\(error)", code: error is UsageError ? Outcome.usageErrorCode : Outcome.failureCode,
                asJSON: invocation.wantsJSON)
        }
    }

    /// Rejects a write to a damaged file. A dry run shows what the write would do with `--force`.
    func requireWholeFile() throws {
        if invocation.isForced || invocation.isDryRun { return }
        _ = prefs.storedValues
        if case .damaged(let file)? = prefs.lastError { throw CommandError(damaged: file, showsLine: secrets.isEmpty) }
    }

    /// Makes the change to a copy in memory. Returns the outcome if nothing is left to do.
    private func rehearse(_ body: (PrefsRunner) throws -> Void) throws -> Outcome? {
        let stored = prefs.storedValues
        let failure = prefs.lastError
        switch failure {
        // It will be quarantined.
        case .notOurs, .damaged:
            if invocation.isForced, !invocation.isDryRun { return nil }
            if let failure, !failure.returnsKnownState { throw failure }
        case let failure? where !failure.isWarning && !failure.returnsKnownState: throw failure
        default: break
        }
        // What does not fit cannot be stored in the copy.
        let before = stored.filter { prefs.mismatch(of: $0.value, forKey: $0.key) == nil }
        var rehearsal = self
        rehearsal.prefs = program.make(prefs.key, InMemoryStore())
        rehearsal.prefs.values = before.objects
        if let error = rehearsal.prefs.lastError, !error.wasStored {
            // The class accepts its own values only together with what the copy lacks. The change itself is still vetted.
            if invocation.isDryRun { throw error }
            return nil
        }
        try body(rehearsal)
        let after = rehearsal.prefs.storedValues
        if invocation.isDryRun {
            let difference = Difference(from: before, to: after, nested: false, hiding: secrets)
            return difference.outcome(asJSON: invocation.wantsJSON, in: program.context).reporting(
                failure, asJSON: invocation.wantsJSON)
        }
        // Nothing is stored, and nothing would be.
        return failure == nil && stored.isEmpty && after.isEmpty ? Outcome() : nil
    }

    private func assign(_ text: String, to path: ValuePath) throws {
        guard !path.steps.isEmpty else { return try store(value(text, path.root), path.root) }
        let whole = whole(of: path)
        // As the type of the element that it replaces, then as JSON, then as a string: the first that the property accepts.
        let results = try ValueText.readings(of: text, like: path.value(in: whole)).map {
            try path.value(whole, with: $0)
        }
        let fitting = results.first { $0.map { prefs.mismatch(of: $0, forKey: path.root) == nil } ?? true }
        guard let result = fitting ?? results.first else {
            throw CommandError("`\(ShownText.key(text))` cannot be read as a value of this type")
        }
        try store(result, path.root)
    }

    /// What a change of a part starts from: what is stored, also if it does not fit its type, or the default.
    private func whole(of path: ValuePath) -> StoredValue? {
        prefs.storedValue(forKey: path.root) ?? prefs.storedDefault(forKey: path.root)
    }

    private func value(at path: ValuePath) -> StoredValue? { path.value(in: whole(of: path)) }

    private func value(_ text: String, _ key: String) throws(PrefsError) -> StoredValue? {
        try prefs.storedValue(ofText: text, forKey: key)
    }

    private func replace(_ path: ValuePath, with new: StoredValue?) throws {
        try store(try path.value(whole(of: path), with: new), path.root)
    }

    private func store(_ value: StoredValue?, _ key: String) throws {
        prefs[key] = value?.object
        if let error = prefs.lastError, !error.wasStored { throw error }
    }

    private func check(_ name: String, is expected: String) throws {
        let path = path(name)
        let now = value(at: path)
        let isSame =
            path.steps.isEmpty
            ? now != nil && now == (try? value(expected, path.root))
            : ValueText.readings(of: expected, like: now).contains { $0 == now }
        guard isSame else {
            let shown = now.map { ValueText.line(secrets.shown($0, at: [path.root])) } ?? "not set"
            let wanted = secrets.contains(path.root) ? ShownText.hidden : expected
            throw CommandError("`\(ShownText.key(name))` is \(shown), not \(wanted)")
        }
    }

    // MARK: - Keys and values

    /// The place that a user names: by the key, or by the name of the property. An unknown name is passed on unchanged, and the
    /// preferences reject it.
    private func path(_ name: String) -> ValuePath {
        let path = ValuePath(name) { word in keys.contains { $0.name == word || $0.shortName == word } }
        let key = keys.first { $0.name == path.root } ?? keys.first { $0.shortName == path.root }
        return key.map { ValuePath($0.name, path.steps) } ?? path
    }

    /// The value that the program reads: the stored one, or the default if nothing is stored or it does not fit.
    func effective(_ stored: StoredValue?, _ key: String) -> StoredValue? {
        if let stored, prefs.mismatch(of: stored, forKey: key) == nil { return stored }
        return prefs.storedDefault(forKey: key) ?? stored
    }

    // MARK: - Results

    /// Where the preferences are, for messages.
    var storeName: String {
        invocation.storeName ?? target?.name ?? (file == nil ? "the store of \(program.name)" : "property-list file")
    }

    /// Where the program stores its preferences.
    ///
    /// - Throws: `CommandError` if they are not in a file.
    func ownTarget() throws -> Target {
        if let target { return target }
        guard let file else { throw CommandError("\(storeName) has no file") }
        return .file(file)
    }

    /// The path of the preferences file; nil if there is none.
    var file: String? { (target?.url ?? prefs.fileURL)?.absoluteURL.path(percentEncoded: false) }

    func failed(_ error: PrefsError) -> Outcome {
        failed(explain(error))
    }

    func failed(_ message: String) -> Outcome {
        .failure(message, asJSON: invocation.wantsJSON)
    }

    /// Describes an error. For an unknown key, suggests a similar key or lists the keys.
    func explain(_ error: PrefsError) -> String {
        if case .rootIsNotDictionary = error, program.hasCommand("delete") {
            return error.description.replacing(
                "deleteAll() removes it", with: "`\(program.name) delete DOMAIN ROOT` removes it")
        }
        guard case .incorrectKeys(let names) = error else { return error.description }
        if let name = names.first, names.count == 1,
            let near = NearestWord.nearest(to: name, among: keys.flatMap { [$0.shortName, $0.name] })
        {
            return "no key `\(ShownText.key(name))`: did you mean `\(near)`?"
        }
        let list = keys.map { $0.shortName == $0.name ? $0.name : "\($0.shortName) (\($0.name))" }
        return "\(error); keys are \(list.joined(separator: ", "))"
    }

    private func table(of values: [String: StoredValue]) -> String {
        var head = Table()
        head.add("root", cell(prefs.key))
        head.add("store", storeName)
        if let file { head.add("file", file) }
        var table = Table()
        table.add("KEY", "NAME", "TYPE", "SOURCE", "VALUE")
        for key in keys {
            let stored = values[key.name]
            let mismatch = stored.flatMap { prefs.mismatch(of: $0, forKey: key.name) }
            func text(_ value: StoredValue) -> String { ValueText.line(secrets.shown(value, at: [key.name])) }
            let note = mismatch.map {
                "  (stored: \(ShownText.line(stored.map(text) ?? "", longest: 40)): \($0.reason))"
            }
            let shown = effective(stored, key.name).map { cell(text($0)) } ?? "(not set)"
            table.add(key.name, key.shortName, key.typeName, source(of: key), shown + (note ?? ""))
        }
        return head.text() + "\n" + table.text(head: program.context.outputStyle, width: program.context.outputWidth)
    }

    /// `default`, `stored` or `layer NAME`: a layer may be named like one of the others.
    private func source(of key: PrefsKey) -> String {
        let source = prefs.source(ofKey: key.name)
        return if case .layer(let name) = source { "layer \(cell(name))" } else { "\(source)" }
    }

    /// Truncates long values on a terminal. `get`, JSON and a pipe show them in full.
    private func cell(_ text: String) -> String {
        program.context.outputWidth.map { ShownText.line(text, longest: max(200, $0)) } ?? text
    }

    /// The values that the program reads, in the format of an export, so that an import accepts them: dots would become the value.
    private func json(of values: [String: StoredValue]) throws -> String {
        var shown: [String: StoredValue] = [:]
        for key in keys { shown[key.name] = effective(values[key.name], key.name) }
        shown = secrets.removed(from: shown)
        return try ExportFormat.json(of: .dictionary(shown))
    }
}

extension ValuePath {
    init(_ root: String, _ steps: [Step]) {
        self.root = root
        self.steps = steps
    }
}

extension PrefsError {
    /// True if the write that reported this error was stored.
    var wasStored: Bool {
        if case .durabilityUnconfirmed = self { true } else { isWarning }
    }
}
