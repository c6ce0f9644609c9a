import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// How the last ten writes of the tool are reverted: one private file for each preferences file, under
/// `$XDG_STATE_HOME`. Records of the fifty files that were written last are kept.
///
/// A record has the bytes that a write replaced, and not those around them, which the file still has.
struct UndoFolder: Sendable {
    private let name: String
    /// The name of its folder.
    private let program: String
    private let context: ProcessContext

    init(of program: Program) {
        name = program.name
        self.program = program.name.map { $0 == "/" || $0 == " " ? "-" : "\($0)" }.joined()
        context = program.context
    }

    /// Runs a command. Reports its waits for locks, keeps the bytes that it replaces, and lets it leave nothing beside the
    /// files of others.
    func keeping(_ invocation: Invocation, _ command: () throws -> Outcome) throws -> Outcome {
        let failure = Locked<String?>(nil)
        let save: @Sendable (FileReplacement) -> Void = { replacement in
            do { try self.save(replacement) } catch {
                failure.withLock { $0 = "stored, but `undo` cannot revert it: \(error)" }
            }
        }
        let (wantsJSON, context) = (invocation.wantsJSON, context)
        let wait = LockWait(
            timeout: try invocation.options.seconds(.timeout),
            notice: { text in
                let message = Outcome.Message(text: text, isError: false, isJSON: wantsJSON)
                context.writeError(message.line(as: name, in: context) + "\n")
            })
        let ownFiles = invocation.spec.accepts(.timeout) ? invocation.program.ownFiles : nil
        var hook = ToolHook.current ?? ToolHook()
        (hook.ownFiles, hook.committed) = (ownFiles, save)
        let outcome = try LockWait.$current.withValue(wait) {
            try ToolHook.$current.withValue(hook, operation: command)
        }
        guard let text = failure.withLock({ $0 }) else { return outcome }
        return outcome.adding([Outcome.Message(text: text, isError: false, isJSON: wantsJSON)])
    }

    /// The writes of the tool that can be reverted, the newest last, and the file after the newest.
    private struct Record {
        var edits: [Edit] = []
        var after: Fingerprint?

        /// The most writes that are kept, and the most bytes of a record with more than one.
        static let mostWrites = 10
        static let mostBytes = 16 << 20

        init(after: Fingerprint?) { self.after = after }

        init(_ record: [String: StoredValue]) {
            if let former = record["before"]?.array {
                // Before 2026-11-28 a record had the whole bytes: a list without an element stood for a missing file.
                let states = former.map { $0.array?.first?.data } + [record["after"]?.data]
                let whole = states.map { $0.map { FileBytes($0) } }
                edits = zip(whole.dropFirst(), states).map { Edit(from: $0, to: $1) }
                after = Fingerprint(whole.last ?? nil)
                return
            }
            edits = (record["edits"]?.array ?? []).compactMap { $0.dictionary.map(Edit.init) }
            after = record["after"]?.dictionary.flatMap(Fingerprint.init)
        }

        /// - Parameter path: the physical path of the preferences file.
        func stored(as path: String) -> StoredValue {
            var record: [String: StoredValue] = ["path": .string(path), "edits": .array(edits.map(\.stored))]
            record["after"] = after?.stored
            return .dictionary(record)
        }

        /// Drops the oldest writes beyond the limits.
        mutating func prune() {
            edits = edits.suffix(Self.mostWrites)
            while edits.count > 1, edits.reduce(0, { $0 + ($1.bytes?.count ?? 0) }) > Self.mostBytes {
                edits.removeFirst()
            }
        }
    }

    /// Tells the bytes of a file from others.
    private struct Fingerprint: Equatable {
        let count: Int64
        let checksum: Int64

        init?(_ bytes: FileBytes?) {
            guard let bytes else { return nil }
            (count, checksum) = (Int64(bytes.count), Int64(bitPattern: CheckedCopy.checksum(bytes)))
        }

        init?(_ stored: [String: StoredValue]) {
            guard let count = stored["count"]?.integer(as: Int64.self),
                let checksum = stored["checksum"]?.integer(as: Int64.self)
            else { return nil }
            (self.count, self.checksum) = (count, checksum)
        }

        var stored: StoredValue { .dictionary(["count": .integer(count), "checksum": .integer(checksum)]) }
    }

    /// The bytes before a write, in place of those after it.
    private struct Edit {
        /// The bytes that were there; nil if there was no file.
        let bytes: Data?
        /// The bytes around them, which the write has left.
        private let start: Int
        private let end: Int

        init(from after: FileBytes?, to before: Data?) {
            guard let after, let before else {
                (bytes, start, end) = (before, 0, 0)
                return
            }
            let start = after.commonStart(with: before)
            let end = min(after.commonEnd(with: before), min(after.count, before.count) - start)
            (bytes, self.start, self.end) = (before.dropFirst(start).dropLast(end), start, end)
        }

        init(_ stored: [String: StoredValue]) {
            bytes = stored["bytes"]?.data
            func count(_ name: String) -> Int { max(0, stored[name]?.integer(as: Int.self) ?? 0) }
            (start, end) = (count("start"), count("end"))
        }

        var stored: StoredValue {
            var edit: [String: StoredValue] = ["start": StoredValue(start), "end": StoredValue(end)]
            edit["bytes"] = bytes.map { .data(Data($0)) }
            return .dictionary(edit)
        }

        /// - Parameter after: the bytes after the write.
        func before(_ after: Data?) -> Data? {
            bytes.map { (after ?? Data()).prefix(start) + $0 + (after ?? Data()).suffix(end) }
        }
    }

    /// The most files with a record.
    private static let mostFiles = 50

    /// Adds a replacement to the record of its file. After a write of another program, the record begins again.
    ///
    /// - Throws: why it cannot be stored.
    func save(_ replacement: FileReplacement) throws {
        let folder = try folder(creates: true)
        let path = "\(folder)/\(Self.name(of: replacement.path))"
        var record = Record(after: nil)
        if let former = try? self.record(of: replacement.path),
            former.after == Fingerprint(replacement.before.map { FileBytes($0) })
        {
            record = former
        }
        record.edits.append(Edit(from: replacement.after, to: replacement.before))
        record.after = Fingerprint(replacement.after)
        record.prune()
        try write(record, of: replacement.path, to: path)
        removeOldRecords(in: folder)
    }

    private func write(_ record: Record, of file: String, to path: String) throws {
        let bytes = try PropertyListCoder.encode(record.stored(as: file), as: .binary)
        guard bytes.count <= PropertyListLimits.fileBytes else {
            throw CommandError("larger than \(PropertyListLimits.fileBytes >> 20) MiB")
        }
        // Removes the record first, because a record of another user cannot be replaced in place and keeps its mode.
        unlink(path)
        try ExportFile.write(bytes, to: path)
    }

    /// Keeps the newest records of the folder.
    private func removeOldRecords(in folder: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if names.count <= Self.mostFiles { return }
        let records = names.compactMap { name in FileMetadata("\(folder)/\(name)").map { (name, $0.modified) } }
        for (name, _) in records.sorted(by: { $0.1 > $1.1 }).dropFirst(Self.mostFiles) { unlink("\(folder)/\(name)") }
    }

    /// The newest write of the tool to a file that is not reverted.
    ///
    /// - Parameters:
    ///   - path: the physical path of a preferences file.
    ///   - current: the bytes of the file; nil if it is missing.
    /// - Returns: nil if the tool has not written the file.
    /// - Throws: an error if the file has other bytes than after the write.
    func replacement(of path: String, current: Data?) throws -> FileReplacement? {
        guard let record = try record(of: path), let edit = record.edits.last else { return nil }
        let current = current.map { FileBytes($0) }
        guard record.after == Fingerprint(current) else {
            throw FileError.notStored(
                StorageFailure(path: path, reason: "has changed since the write that would be reverted"))
        }
        return FileReplacement(path: path, before: edit.before(current?.joined), after: current)
    }

    /// Forgets the newest write, after it was reverted.
    func removeNewest(_ reverted: FileReplacement) throws {
        guard var record = try record(of: reverted.path), !record.edits.isEmpty else { return }
        record.edits.removeLast()
        record.after = Fingerprint(reverted.before.map { FileBytes($0) })
        try write(record, of: reverted.path, to: "\(folder(creates: true))/\(Self.name(of: reverted.path))")
    }

    private func record(of path: String) throws -> Record? {
        let file = "\(try folder(creates: false))/\(Self.name(of: path))"
        guard let metadata = FileMetadata(file) else { return nil }
        guard metadata.isFile, metadata.isOwn else { throw CommandError("\(file) belongs to another user") }
        let record = try PropertyListCoder.decode(ExportFile.read(file)).value.dictionary
        guard let record, record["path"]?.string == path else { return nil }
        return Record(record)
    }

    /// The name of a record: the last part of the path, for people, and a hash of the whole path.
    private static func name(of path: String) -> String {
        let hash = path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\(FileNames(path: path).file)-\(String(hash, radix: 16)).plist"
    }

    /// The physical path of the folder. The folder and new folders above it have mode 0700.
    private func folder(creates: Bool) throws -> String {
        let home = context.variable("HOME") ?? ""
        var state = context.variable("XDG_STATE_HOME") ?? ""
        if state.utf8.first != UInt8(ascii: "/") {
            if home.isEmpty { throw CommandError("HOME is not set") }
            guard home.utf8.first == UInt8(ascii: "/") else { throw CommandError("HOME is not an absolute path") }
            state = home + "/.local/state"
        }
        let resolution = try PathResolution("\(state)/\(program)/undo", system: .real)
        guard creates else { return resolution.target }
        // In the home of another user, that user could lead root anywhere.
        guard geteuid() != 0 || resolution.links.isEmpty && FileMetadata(home)?.isOwn != false else {
            throw CommandError("\(home) belongs to another user")
        }
        let (system, names) = (SystemCalls.real, FileNames(path: resolution.target))
        if try system.status(ofPath: names.path, followsLinks: false) == nil { try Folders.make(names, system) }
        let folder = OpenFile(try system.openFolder(names.path), system)
        let status = try system.status(of: folder.descriptor)
        guard status.owner == geteuid() else { throw CommandError("\(names.path) belongs to another user") }
        if status.permissions & 0o077 != 0 { try system.setPermissions(0o700, of: folder.descriptor) }
        return names.path
    }
}

extension FileBytes {
    /// The number of bytes that are the same at the start.
    fileprivate func commonStart(with other: Data) -> Int {
        var count = 0
        for part in parts {
            let rest = other.dropFirst(count).prefix(part.count)
            if rest != part {
                return count + part.withUnsafeBytes { part in rest.withUnsafeBytes { part.commonEnds(with: $0).start } }
            }
            count += part.count
        }
        return count
    }

    /// A number of bytes that are the same at the end. Of a part, those that are the same at its start do not count.
    fileprivate func commonEnd(with other: Data) -> Int {
        var count = 0
        for part in parts.reversed() {
            let rest = other.dropLast(count).suffix(part.count)
            if rest != part {
                return count + part.withUnsafeBytes { part in rest.withUnsafeBytes { part.commonEnds(with: $0).end } }
            }
            count += part.count
        }
        return count
    }
}
