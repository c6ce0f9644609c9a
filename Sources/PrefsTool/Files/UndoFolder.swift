import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The bytes that the last writes of the tool replaced: one private file for each preferences file, under
/// `$XDG_STATE_HOME`.
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

    /// Runs a command. Reports its waits for locks, and keeps the bytes that it replaces.
    func keeping(_ invocation: Invocation, _ command: () throws -> Outcome) throws -> Outcome {
        let failure = Locked<String?>(nil)
        let save: @Sendable (FileReplacement) -> Void = { replacement in
            do { try self.save(replacement) } catch {
                failure.withLock { $0 = "this cannot be undone: \(error)" }
            }
        }
        let (wantsJSON, context) = (invocation.wantsJSON, context)
        // A line on standard error would damage the screen of the editor.
        let isSilent = invocation.spec.name == "edit"
        let wait = LockWait(
            timeout: try invocation.options.seconds(.timeout),
            notice: { text in
                guard !isSilent else { return }
                let message = Outcome.Message(text: text, isError: false, isJSON: wantsJSON)
                context.writeError(message.line(as: name, in: context) + "\n")
            })
        let outcome = try LockWait.$current.withValue(wait) {
            try FileReplacement.observing(with: save, command)
        }
        guard let text = failure.withLock({ $0 }) else { return outcome }
        return outcome.adding([Outcome.Message(text: text, isError: false, isJSON: wantsJSON)])
    }

    /// Stores the replacement in place of the former one of the same file.
    ///
    /// - Throws: why it cannot be stored.
    func save(_ replacement: FileReplacement) throws {
        let folder = try folder(creates: true)
        var record: [String: StoredValue] = ["path": .string(replacement.path)]
        record["before"] = replacement.before.map(StoredValue.data)
        record["after"] = replacement.after.map(StoredValue.data)
        let path = "\(folder)/\(Self.name(of: replacement.path))"
        let bytes = try PropertyListCoder.encode(.dictionary(record), as: .binary)
        guard bytes.count <= PropertyListLimits.fileBytes else {
            throw CommandError("larger than \(PropertyListLimits.fileBytes >> 20) MiB")
        }
        // Removes the record first, because a record of another user cannot be replaced in place and keeps its mode.
        unlink(path)
        try ExportFile.write(bytes, to: path)
    }

    /// - Parameter path: the physical path of a preferences file.
    /// - Returns: nil if the tool has not written the file.
    func replacement(of path: String) throws -> FileReplacement? {
        let file = "\(try folder(creates: false))/\(Self.name(of: path))"
        guard let metadata = FileMetadata(file) else { return nil }
        guard metadata.isFile, metadata.isOwn else { throw CommandError("\(file) belongs to another user") }
        let record = try PropertyListCoder.decode(ExportFile.read(file)).value.dictionary
        guard let record, record["path"]?.string == path else { return nil }
        func bytes(_ key: String) -> Data? { if case .data(let bytes)? = record[key] { bytes } else { nil } }
        return FileReplacement(path: path, before: bytes("before"), after: bytes("after"))
    }

    /// The name of a record: the last part of the path, for people, and a hash of the whole path.
    private static func name(of path: String) -> String {
        let hash = path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\(FileNames(path: path).file)-\(String(hash, radix: 16)).plist"
    }

    /// The physical path of the folder. The folder and new folders above it have mode 0700.
    private func folder(creates: Bool) throws -> String {
        let environment = context.environment
        let home = environment["HOME"] ?? ""
        var state = environment["XDG_STATE_HOME"] ?? ""
        if state.utf8.first != UInt8(ascii: "/") { state = home + "/.local/state" }
        guard state.utf8.first == UInt8(ascii: "/") else { throw CommandError("HOME is not an absolute path") }
        let resolution = try PathResolution("\(state)/\(program)/undo", system: .real)
        guard creates else { return resolution.target }
        // In the home of another user, that user could lead root anywhere.
        guard geteuid() != 0 || resolution.links.isEmpty && FileMetadata(home)?.isOwn != false else {
            throw CommandError("\(home) belongs to another user")
        }
        let (system, names) = (SystemCalls.real, FileNames(path: resolution.target))
        if try system.status(ofPath: names.path, followsLinks: false) == nil { try WriteLock.makeFolder(names, system) }
        let folder = OpenFile(try system.openFolder(names.path), system)
        let status = try system.status(of: folder.descriptor)
        guard status.owner == geteuid() else { throw CommandError("\(names.path) belongs to another user") }
        if status.permissions & 0o077 != 0 { try system.setPermissions(0o700, of: folder.descriptor) }
        return names.path
    }
}
