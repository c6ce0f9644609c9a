import Foundation
import PersistentPreferences
import PrefsDocuments
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// The own text of a JSON file or an XML property list, perhaps malformed. It is stored byte for byte.
struct FileDocument: EditedDocument {
    private let invocation: Invocation
    private let place: Place
    private let target: Target
    /// The physical path of the file.
    private let path: String
    /// The bytes of the file; nil if it was missing.
    private var bytes: Data?
    let remarks: [Remark]
    let syntax: EditedSyntax

    /// - Returns: nil if the file is a binary property list or not in UTF-8, if a class finds its settings in one of several
    ///   roots of it or finds nothing, or if it has secrets that the person did not ask for.
    init?(_ place: Place, _ invocation: Invocation) throws {
        guard let named = place.file, place.secrets.isEmpty, place.mayBeEditedAsText else { return nil }
        path = try SidecarPaths(path: named).file
        bytes = FileMetadata(path) == nil ? nil : try ExportFile.read(path)
        let isJSON = place.prefs != nil || place.target?.isJSON == true
        guard let syntax = Self.syntax(of: bytes ?? Data(), isJSON: isJSON) else { return nil }
        if place.prefs != nil, bytes?.isBlank ?? true { return nil }
        self.syntax = syntax
        (self.invocation, self.place, target) = (invocation, place, place.target ?? .file(named))
        do throws(EditRejection) {
            _ = try Self.members(of: bytes, syntax)
            remarks = []
        } catch {
            remarks = error.remarks
        }
    }

    /// The syntax of a text, by its content; nil if it is none in UTF-8.
    ///
    /// - Parameter isJSON: whether text that is no property list is JSON.
    private static func syntax(of bytes: Data, isJSON: Bool) -> EditedSyntax? {
        guard String(validUTF8: bytes) != nil, !bytes.contains(0) else { return nil }
        switch bytes.withUnsafeBytes([FileFormat].propertyLists.recognizing) {
        case nil: return isJSON ? .json : nil
        case let format? where format.isXML:
            // An editor would write other characters than the declaration says.
            let encoding = try? bytes.withUnsafeBytes { try XMLDocumentText.encoding(of: $0).encoding }
            return (encoding ?? .utf8) == .utf8 ? .xml : nil
        default: return nil
        }
    }

    var text: Data { bytes.flatMap { $0.isBlank ? nil : $0 } ?? Data("{\n}\n".utf8) }

    func store(_ text: Data, _ answers: ValueMerge.Answers) throws -> Outcome {
        let mine = try syntax.members(of: text)
        try check(mine, in: text)
        while true {
            let current = try currentBytes
            let isAlone = current == bytes
            let merged = isAlone ? mine : try merged(mine, over: current) { answers.replaces($0.theirs, at: $0.path) }
            if invocation.isDryRun {
                let theirs = (try? Self.members(of: current, syntax)) ?? [:]
                return Difference(from: theirs, to: merged, hiding: .none).outcome(invocation)
            }
            let new = try isAlone ? text : combined(text, mine, current, merged)
            do {
                return try Outcome.written(asJSON: false) {
                    try target.domain(isForced: true).restore(
                        FileReplacement(path: path, before: new, after: current.map { FileBytes($0) }))
                }
            } catch {
                // Merges again if another process has written since the look.
                if try currentBytes == current { throw error }
            }
        }
    }

    /// Rejects new values that the class would not read. What a malformed file had is not known.
    private func check(_ mine: [String: StoredValue], in text: Data) throws(EditRejection) {
        guard let prefs = place.prefs, prefs.hasFlatLayout, let base = try? Self.members(of: bytes, syntax) else {
            return
        }
        let keys = mine.filter { base[$0.key] != $0.value && !prefs.isOfTools($0.key) }
        let remarks = keys.sortedByBytes.compactMap { key, value -> Remark? in
            do {
                _ = try place.value(written: value, forKey: key, over: base[key])
                return nil
            } catch {
                return Remark(line: syntax.line(ofKey: key, in: text), text: "\(error)")
            }
        }
        if !remarks.isEmpty { throw EditRejection(remarks) }
    }

    mutating func catchUp(_ text: Data) throws -> Data {
        let (mine, current) = (try syntax.members(of: text), try currentBytes)
        let merged = try merged(mine, over: current) { _ in true }
        bytes = current
        return try syntax.text(text, from: mine, to: merged)
    }

    /// The text of the merged values. If only one side has changed more than values, such as a comment, its text stays.
    private func combined(
        _ text: Data, _ mine: [String: StoredValue], _ current: Data?, _ merged: [String: StoredValue]
    ) throws -> Data {
        let base = try Self.members(of: bytes, syntax)
        func hasValuesOnly(_ new: Data?, _ members: [String: StoredValue]) -> Bool {
            guard let bytes, let new else { return bytes == new }
            return (try? syntax.text(bytes, from: base, to: members)) == new
        }
        let theirs = try Self.members(of: current, syntax)
        // A file that was made or removed meanwhile has no text that both have seen.
        if bytes == nil || current?.isBlank != false || hasValuesOnly(current, theirs) {
            return try syntax.text(text, from: mine, to: merged)
        }
        guard let current, hasValuesOnly(text, mine) else {
            throw CommandError(
                "another process has changed more than values in \(path), and so have you; nothing has changed")
        }
        return try syntax.text(current, from: theirs, to: merged)
    }

    private var currentBytes: Data? {
        get throws { FileMetadata(path) == nil ? nil : try ExportFile.read(path) }
    }

    /// The members of a file, which has none while it is missing or blank.
    private static func members(
        of bytes: Data?, _ syntax: EditedSyntax
    ) throws(EditRejection) -> [String: StoredValue] {
        guard let bytes, !bytes.isBlank else { return [:] }
        return try syntax.members(of: bytes)
    }

    private func merged(
        _ mine: [String: StoredValue], over current: Data?, answer: @escaping (ValueMerge.Conflict) -> Bool?
    ) throws -> [String: StoredValue] {
        do {
            return try ValueMerge.values(
                Self.members(of: bytes, syntax), to: mine, over: Self.members(of: current, syntax), isDeep: true,
                answer: answer)
        } catch let rejection as EditRejection {
            let reason = rejection.remarks.map(\.text).joined(separator: "; ")
            throw CommandError("\(path) has changed in the meantime and cannot be merged: \(reason)")
        }
    }
}

extension Place {
    /// Whether the text of the file is edited: a file without a class, one that has nothing but the settings of the class, or
    /// one whose settings cannot be read because of a line.
    fileprivate var mayBeEditedAsText: Bool {
        guard let prefs, !prefs.hasFlatLayout else { return true }
        do { return try Self.line(of: read().failure) != nil } catch { return Self.line(of: error) != nil }
    }

    private static func line(of error: (any Error)?) -> Int? {
        switch error as? PrefsError {
        case .damaged(let file)?, .notOurs(let file)?: file.line
        default: nil
        }
    }
}

extension Data {
    var isBlank: Bool { allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }
}
