import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

extension Runner {
    /// Prints the stored values without layers, or writes them to a file.
    func export() throws -> Outcome {
        let path = invocation.options[.output].flatMap { $0 == "-" ? nil : $0 }
        let format = try Self.format(invocation.options[.format], path: path)
        let (found, failure) = try place.existing()
        // Without the values of layers, which an import would make permanent.
        let values = place.prefs.map { prefs in prefs.readingStored { $0 } ?? [:] } ?? found
        let shown = place.secrets.removed(from: values, isDeep: place.prefs == nil)
        let keepsAll = format == .json && place.keepsNulls
        if place.keepsNulls, !keepsAll { try invocation.confirm(Self.losses(of: shown)) }
        let bytes: Data
        do { bytes = try format.data(of: shown, keepsAll: keepsAll) } catch PrefsError.valuesNotPlistCompatible(
            let keys)
        {
            let failures = PrefsError.valuesNotPlistCompatible(invalidElements: InvalidKeys(keys)).failures
            return Outcome().reporting(failures.map { "\($0.path): \($0.reason)" }, asJSON: wantsJSON)
        }
        let unread = place.unread.map { PrefsError.problem(PrefsProblem(.store, reason: "\($0); writes are rejected")) }
        var outcome = try write(bytes, as: format, to: path).reporting(failure ?? unread, asJSON: wantsJSON)
        let hidden = place.secrets.only(in: values, isDeep: place.prefs == nil).flatMap { key, value in
            place.secrets.contains(key) ? [key] : (value.dictionary ?? [:]).keys.map { "\(key).\($0)" }
        }.sorted()
        if !hidden.isEmpty {
            let text = "left out, because sensitive: \(hidden.joined(separator: ", ")); --reveal exports them"
            outcome.messages.append(Outcome.Message(text: text, isError: false, isJSON: wantsJSON))
        }
        return outcome
    }

    /// What an export of a JSON file as a property list would change.
    private static func losses(of values: [String: StoredValue]) -> Risks {
        var risks = Risks()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let kind = Place.lost(of: value) else { continue }
            risks.add("`\(ShownText.key(key))`: \(kind) cannot be stored in a property list")
        }
        return risks
    }

    private static func format(_ name: String?, path: String?) throws(UsageError) -> ExportFormat {
        if let name { return try ExportFormat.named(name) }
        if let format = path.flatMap(ExportFormat.init(extensionOf:)) { return format }
        let parts = path.map { FileNames(path: $0.absolutePath).file.split(separator: ".").map(String.init) } ?? []
        guard parts.count > 1, let ending = parts.last else { return .json }
        throw UsageError(
            "the extension .\(ShownText.key(ending)) names no format; give --format json, xml or binary")
    }

    private func write(_ bytes: Data, as format: ExportFormat, to path: String?) throws -> Outcome {
        guard let path else {
            if format == .binary, isatty(invocation.context.output) == 1 {
                throw UsageError("binary output cannot be written to a terminal; give -o PATH or redirect the output")
            }
            return Outcome(bytes: bytes, as: OutputFormat(FileFormat(format)))
        }
        let file = (try? SidecarPaths(path: path.absolutePath).file) ?? path.absolutePath
        var risks = Risks()
        // The write rejects a path that is neither missing nor a file.
        let isReplaced = ExportFile.openDescriptor(path.absolutePath) == nil && FileMetadata(file)?.isFile == true
        if isReplaced { risks.add("\(path) exists and would be replaced") }
        try invocation.confirm(risks)
        let former = isReplaced ? try? Data(contentsOf: URL(filePath: file)) : nil
        // With --reveal, it may have secrets.
        let mode = invocation.options.has(.reveal) ? nil : place.mode ?? 0o666
        try ExportFile.write(bytes, to: path.absolutePath, mode: mode)
        if let former {
            ToolHook.current?.committed?(FileReplacement(path: file, before: former, after: FileBytes(bytes)))
        }
        return Outcome()
    }

    /// Stores all values of a file or none. Sensitive values that it lacks stay, because an export leaves them out.
    func importValues() throws -> Outcome {
        let path = invocation.operands.first.flatMap { $0 == "-" ? nil : $0.absolutePath }
        let bytes = try ExportFile.read(path, orInput: invocation.context.input)
        let name = invocation.operands.first ?? "standard input"
        let imported = try Self.values(
            of: bytes, from: name, isFile: place.keepsNulls, ending: "; nothing has changed")
        let spelled = place.keepsNulls ? ExportFormat.spelledValues(ofJSON: bytes) ?? imported : imported
        let values = try place.importable(spelled.filter { place.prefs == nil || $0.key != JSONForm.schema })
        // The types of declared keys say which numbers they take.
        let isRounding = place.prefs == nil && !place.keepsNulls
        let rounded = isRounding ? values.filter { $0.value.plain != $0.value } : [:]
        return try place.change(invocation) { stored, risks in
            for text in Self.losses(of: rounded).texts { risks.add(text) }
            let values = values.merging(rounded.mapValues(\.plain)) { $1 }
            guard invocation.options.has(.replace) else {
                stored.merge(values) { place.prefs == nil ? $1.merged(over: $0) : $1 }
                return
            }
            if place.prefs == nil, values.isEmpty, !stored.isEmpty {
                risks.add("all entries of the \(place.name) would be removed")
            }
            guard place.prefs == nil else {
                let kept = stored.filter { place.isOfLayer($0.key) || place.prefs?.isSensitive($0.key) == true }
                stored = kept.merging(values) { $1 }
                return
            }
            // What an export leaves out.
            stored = place.secrets.only(in: stored, isDeep: true)
            for (key, value) in values {
                guard let kept = stored[key]?.dictionary, let members = value.dictionary, !place.secrets.contains(key)
                else {
                    stored[key] = value
                    continue
                }
                stored[key] = .dictionary(kept.merging(members) { $1 })
            }
        }
    }

    private static func values(
        of bytes: Data, from name: String, isFile: Bool = false, ending: String = ""
    ) throws(CommandError) -> [String: StoredValue] {
        do throws(PrefsError) { return try ExportFormat.values(of: bytes, isFile: isFile) } catch {
            guard case .invalidImport(let reason) = error else { throw CommandError("\(error)") }
            throw CommandError("\(name): \(reason)\(ending)")
        }
    }

    /// Prints the differences between two files or domains. Exits like diff(1).
    static func diff(_ invocation: Invocation) -> Outcome {
        let program = invocation.program
        do {
            var sides = try invocation.operands.map { try side($0, invocation) }
            if sides.contains(where: \.isJSON) {
                // Only JSON has numbers with more digits than a Double.
                let isOfJSON = sides.allSatisfy(\.isJSON)
                sides = sides.map { ($0.values.mapValues { (isOfJSON ? $0 : $0.plain).withWholeNumbers }, $0.isJSON) }
            }
            // Secrets of the program's own file are also hidden in the other file.
            let own = try invocation.operands.compactMap { try program.ownPrefs(in: Target($0)) }.first
            let secrets = own.map { Secrets(of: $0, reveals: invocation.options.has(.reveal)) } ?? .none
            let difference = Difference(from: sides[0].values, to: sides[1].values, hiding: secrets)
            if difference.isEmpty { return Outcome(output: invocation.wantsJSON ? "[]\n" : "", as: .json) }
            var outcome = difference.outcome(invocation)
            outcome.code = 1
            return outcome
        } catch {
            return .failure("\(error)", code: 2, asJSON: invocation.wantsJSON)
        }
    }

    /// The values of one side of `diff`, and whether they are JSON.
    private static func side(
        _ word: String, _ invocation: Invocation
    ) throws -> (values: [String: StoredValue], isJSON: Bool) {
        let target = Target(word)
        switch target {
        case .file(let path, _), .stream(let path, _):
            let bytes = try ExportFile.read(path == "-" ? nil : path.absolutePath, orInput: invocation.context.input)
            let name = word == "-" ? target.name : word
            let isJSON = bytes.withUnsafeBytes([FileFormat].propertyLists.recognizing) == nil
            return (try values(of: bytes, from: name, isFile: true), isJSON)
        case .suite, .url: break
        }
        let (values, failure) = try Place(entriesOf: target, in: invocation.program).existing()
        // The known state of a malformed file is not its content.
        switch failure {
        case .damaged(let file)?, .notOurs(let file)?: throw CommandError(file.place)
        default: return (values, false)
        }
    }

    /// Reverts the newest write of the tool to the file of the place that was not reverted yet, and prints the changes.
    func undo() throws -> Outcome {
        guard let named = place.file else {
            throw CommandError("undo is not available for the \(place.name): it has no file")
        }
        let path = try SidecarPaths(path: named).file
        let folder = UndoFolder(of: program)
        let replacement: FileReplacement
        do {
            let bytes = FileMetadata(path) == nil ? nil : try ExportFile.read(path)
            guard let newest = try folder.replacement(of: path, current: bytes) else {
                throw CommandError("nothing to undo: no write of yours to \(path) is left")
            }
            replacement = newest
        } catch let error as FileError {
            if invocation.isDryRun { throw CommandError("\(path): has changed since the write that would be reverted") }
            throw PrefsError(error)
        }
        let domain = try (place.target?.suite.map(Target.suite) ?? .file(named)).domain(isForced: true)
        // A large file is not decoded again. Of a malformed one, the domain has another state.
        let now = (try? domain.entries()).flatMap { $0.failure == nil ? $0.entries : nil }
        func entries(_ bytes: Data?) -> [String: StoredValue] {
            bytes.flatMap { try? ContentCoder.decode($0, in: .all).content } ?? [:]
        }
        let difference = Difference(
            from: now ?? entries(replacement.after?.joined), to: entries(replacement.before), hiding: place.secrets)
        let shown =
            difference.isEmpty && !wantsJSON
            ? Outcome(output: "no value changes, only the text of the file\n") : difference.outcome(invocation)
        if invocation.isDryRun { return shown }
        // An undo is no write that another one reverts.
        var hook = ToolHook.current
        hook?.committed = nil
        let written = try ToolHook.$current.withValue(hook) {
            try Outcome.written(asJSON: wantsJSON) { try domain.restore(replacement) }
        }
        try folder.removeNewest(replacement)
        return shown.adding(written.messages)
    }
}
