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
        let values = place.prefs.map { prefs in prefs.readingStored { $0 } ?? [:] } ?? found
        let shown = place.secrets.removed(from: values, isDeep: place.prefs == nil)
        var outcome = try write(try format.data(of: shown), as: format, to: path).reporting(failure, asJSON: wantsJSON)
        let hidden = values.keys.filter { shown[$0] == nil }.sorted()
        if !hidden.isEmpty {
            let text = "left out, because sensitive: \(hidden.joined(separator: ", ")); --reveal exports them"
            outcome.messages.append(Outcome.Message(text: text, isError: false, isJSON: wantsJSON))
        }
        return outcome
    }

    private static func format(_ name: String?, path: String?) throws(UsageError) -> ExportFormat {
        guard let name else {
            let path = path?.lowercased() ?? ""
            return path.hasSuffix(".xml") ? .xml : path.hasSuffix(".plist") ? .binary : .json
        }
        guard let format = ExportFormat(rawValue: name) else {
            throw UsageError("unknown format `\(ShownText.key(name))`; formats are json, xml, binary")
        }
        return format
    }

    private func write(_ bytes: Data, as format: ExportFormat, to path: String?) throws -> Outcome {
        guard let path else {
            if format == .binary, isatty(invocation.context.output) == 1 {
                throw UsageError("binary output cannot be written to a terminal; give -o PATH or redirect the output")
            }
            return Outcome(bytes: bytes, as: OutputFormat(format))
        }
        let file = (try? SidecarPaths(path: path.absolutePath).file) ?? path.absolutePath
        var risks = Risks()
        // The write rejects a path that is neither missing nor a file.
        let isReplaced = ExportFile.openDescriptor(path.absolutePath) == nil && FileMetadata(file)?.isFile == true
        if isReplaced { risks.add("\(path) exists and would be replaced") }
        try Confirmation(program: program, isForced: invocation.isForced).require(risks)
        let former = isReplaced ? try? Data(contentsOf: URL(filePath: file)) : nil
        try ExportFile.write(bytes, to: path.absolutePath)
        if let former { FileReplacement.observer?(FileReplacement(path: file, before: former, after: bytes)) }
        return Outcome()
    }

    /// Stores all values of a file or none. Sensitive values that it lacks stay, because an export leaves them out.
    func importValues() throws -> Outcome {
        let path = invocation.operands.first.flatMap { $0 == "-" ? nil : $0.absolutePath }
        let bytes = try ExportFile.read(path, orInput: invocation.context.input)
        let name = invocation.operands.first ?? "standard input"
        let imported = try Self.values(of: bytes, from: name, ending: "; nothing has changed")
        let values = try place.importable(imported.filter { place.prefs == nil || $0.key != JSONForm.schema })
        return try place.change(invocation) { stored, risks in
            guard invocation.options.has(.replace) else {
                stored.merge(values) { place.prefs == nil ? $1.merged(over: $0) : $1 }
                return
            }
            if place.prefs == nil, values.isEmpty, !stored.isEmpty {
                risks.add("all entries of the \(place.name) would be removed")
            }
            let kept = stored.filter { place.isOfLayer($0.key) || place.prefs?.isSensitive($0.key) == true }
            stored = kept.merging(values) { $1 }
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
            let sides = try invocation.operands.map { word in
                let target = Target(word)
                if case .file(let path) = target {
                    return try values(of: ExportFile.read(path.absolutePath), from: word, isFile: true)
                }
                let (values, failure) = try Place(entriesOf: target, in: program).existing()
                // The known state of a malformed file is not its content.
                switch failure {
                case .damaged(let file)?, .notOurs(let file)?: throw CommandError(file.place)
                default: return values
                }
            }
            // Secrets of the program's own file are also hidden in the other file.
            let own = try invocation.operands.compactMap { try program.ownPrefs(in: Target($0)) }.first
            let secrets = own.map { Secrets(of: $0, reveals: invocation.options.has(.reveal)) } ?? .none
            let difference = Difference(from: sides[0], to: sides[1], hiding: secrets)
            if difference.isEmpty { return Outcome(output: invocation.wantsJSON ? "[]\n" : "", as: .json) }
            var outcome = difference.outcome(invocation)
            outcome.code = 1
            return outcome
        } catch {
            return .failure("\(error)", code: 2, asJSON: invocation.wantsJSON)
        }
    }

    /// Reverts the last write of the tool to the file of the place, and prints the changes.
    func undo() throws -> Outcome {
        guard let named = place.file else {
            throw CommandError("undo is not available for the \(place.name): it has no file")
        }
        let path = try SidecarPaths(path: named).file
        guard let replacement = try UndoFolder(of: program).replacement(of: path) else {
            throw CommandError("nothing to undo: this tool has not written \(path)")
        }
        let isJSON = Target.format(of: path) == .json
        func entries(_ bytes: Data?) -> [String: StoredValue] {
            bytes.flatMap { try? PropertyListFile.decode($0, in: isJSON ? .all : .propertyLists).content } ?? [:]
        }
        let difference = Difference(
            from: entries(replacement.after), to: entries(replacement.before), hiding: place.secrets
        )
        let shown =
            difference.isEmpty && !wantsJSON
            ? Outcome(output: "no value changes, only the text of the file\n") : difference.outcome(invocation)
        if invocation.isDryRun {
            let bytes = FileMetadata(path) == nil ? nil : try ExportFile.read(path)
            guard bytes == replacement.after else { throw CommandError("\(path): has changed since that write") }
            return shown
        }
        let domain = try (place.target?.suite.map(Target.suite) ?? .file(named)).domain(isForced: true)
        let written = try Outcome.written(asJSON: wantsJSON) { try domain.restore(replacement) }
        return shown.adding(written.messages)
    }
}
