import Foundation
import PersistentPreferences

extension Diagnosis {
    /// The problems and notes, in the order in which to solve them.
    var findings: [Finding] {
        guard let surroundings else { return [unsearchableFolder ?? Finding(reason: unreadableReason)] }
        if let problem = surroundings.nameProblem { return [Finding(reason: "\(problem): nothing can be stored")] }
        let troubles = [
            unsearchableFolder ?? folderFinding(surroundings), lockFinding(surroundings), mountFinding(surroundings),
            fileSystemFinding, fileFinding(surroundings), ownerFinding(surroundings), temporaryFinding(surroundings),
        ]
        let found = troubles.compactMap { $0 }
        return found + (found.contains(where: \.isProblem) ? [] : trialFindings(surroundings))
            + contentFindings(surroundings) + copyFindings(surroundings)
            + managerFindings(surroundings)
    }

    private var unreadableReason: String {
        "\(path) cannot be read: \(examination.problems.first?.reason ?? "the path cannot be resolved")"
    }

    // MARK: - Folder

    /// The first folder on the path that the user may not search.
    private var unsearchableFolder: Finding? {
        var folder = ""
        for name in path.utf8.split(separator: UInt8(ascii: "/")).dropLast() {
            folder += "/" + String(decoding: name, as: UTF8.self)
            // A file in the place of a folder, and a link to nothing, are not searched, either.
            guard let metadata = FileMetadata(folder), FileKind(of: folder) == .other, !Access(folder).searches else {
                continue
            }
            // For a link, checks the owner of the folder that it leads to.
            let isOwn = (FileMetadata(folder + "/.") ?? metadata).isOwn
            return Finding(
                reason: "you may not search the folder \(folder)",
                command: isOwn ? ShellCommand.text(["chmod", "u+rwx", folder]) : nil)
        }
        return nil
    }

    private func folderFinding(_ surroundings: SidecarPaths) -> Finding? {
        let folderPath = surroundings.folder
        guard let folder else {
            // A write creates it in the first existing folder above it.
            let above =
                sequence(first: folderPath) { $0 == "/" ? nil : SidecarPaths.folder(of: $0) }
                .first { FileMetadata($0) != nil } ?? "/"
            return FileMetadata(above)?.isFolder == true && Access(above).writes
                ? nil : Finding(reason: "the folder \(folderPath) does not exist and cannot be created in \(above)")
        }
        guard folder.isFolder else { return Finding(reason: "\(folderPath) is not a folder") }
        if folderAccess.isOnReadOnlyVolume {
            return Finding(reason: "the volume of \(folderPath) is read-only: nothing can be stored")
        }
        if folderAccess.isOnFullVolume || folderAccess.hasNoFileNumber && !isOnServer {
            return Finding(reason: "the volume of \(folderPath) is full: nothing can be stored")
        }
        if folderAccess.isImmutable { return immutable(folderPath, "folder") }
        guard !folderAccess.writes || !folderAccess.reads else { return nil }
        let isOwn = folder.isOwn
        return Finding(
            reason: "nothing can be stored in the folder \(folderPath): "
                + (isOwn ? "its permissions are \(folder.permissions)" : "it belongs to another user"),
            command: isOwn ? ShellCommand.text(["chmod", "u+rwx", folderPath]) : nil)
    }

    private func immutable(_ path: String, _ word: String) -> Finding {
        Finding(
            reason: "the \(word) \(path) has the immutable flag: nothing can be stored",
            command: ShellCommand.text((geteuid() == 0 ? [] : ["sudo"]) + ["chattr", "-i", path]))
    }

    // MARK: - Lock

    private func lockFinding(_ surroundings: SidecarPaths) -> Finding? {
        if hasEmptyLinkAsLock(surroundings) {
            return Finding(
                reason: "the lock file \(surroundings.lock) is a link to nothing or to an empty file: the next write "
                    + "replaces the link", isProblem: false)
        }
        switch lock {
        case .none, .free:
            return nil
        case .held(let holders):
            let stopped = holders.filter(\.isStopped)
            guard !stopped.isEmpty else {
                return Finding(reason: "the lock is \(lock.text): writes wait until it is released", isProblem: false)
            }
            let continued = stopped.filter { !$0.isFrozen }
            let needsRoot = geteuid() != 0 && continued.contains { !$0.isOwn }
            let command = (needsRoot ? ["sudo"] : []) + ["kill", "-CONT"] + continued.map { "\($0.pid)" }
            return Finding(
                reason: "the lock is \(lock.text): writes wait until the process continues or is killed",
                command: continued.isEmpty ? nil : ShellCommand.text(command))
        case .blocked(let reason):
            return Finding(
                reason: "the lock file \(surroundings.lock) cannot be used: \(reason); nothing can be stored",
                command: unblockCommand(surroundings).map(ShellCommand.text))
        }
    }

    /// Whether the lock file is the user's own link to nothing, or to an empty file of the user. `stow` makes such links.
    private func hasEmptyLinkAsLock(_ surroundings: SidecarPaths) -> Bool {
        let path = surroundings.lock
        guard !isOnServer, let link = FileMetadata(path), link.type == .typeSymbolicLink, link.isOwn else {
            return false
        }
        var target = stat()
        guard fstatat(AT_FDCWD, path, &target, 0) == 0 else { return errno == ENOENT }
        return target.st_mode & S_IFMT == S_IFREG && target.st_size == 0 && target.st_uid == geteuid()
    }

    /// The command that makes the lock file usable; nil if no command does. A lock file that another user planted can
    /// be removed, because no writer of this package locks it. A lock file of root may be locked, so it is not removed.
    private func unblockCommand(_ surroundings: SidecarPaths) -> [String]? {
        guard let planted = FileMetadata(surroundings.lock) else { return nil }
        // The owner of the file may hold the lock.
        if let file, planted.ownerID == file.ownerID, !planted.isOwn, geteuid() != 0 { return nil }
        let isFile = planted.isFile
        if isFile, planted.isOwn, planted.mode & 0o600 != 0o600 { return ["chmod", "u+rw", surroundings.lock] }
        if isFile, planted.ownerID == 0, !planted.isOwn {
            return folder?.isOwn == true ? ["sudo", "chown", "\(geteuid())", surroundings.lock] : nil
        }
        let mayRemove = planted.isOwn || folder?.isOwn == true || geteuid() == 0
        return (mayRemove ? [] : ["sudo"]) + [planted.isFolder ? "rmdir" : "rm", surroundings.lock]
    }

    // MARK: - File

    /// The file systems whose locks reach other machines, unless the mount has one of the options.
    private static let sharedLocks: Set = ["nfs", "nfs4", "cifs", "smb3", "ceph"]
    private static let localLocks: Set = ["nolock", "local_lock=all", "local_lock=flock", "nobrl"]

    private var fileSystemFinding: Finding? {
        guard let mount, isOnServer else { return nil }
        let option = mount.options.sorted().first(where: Self.localLocks.contains)
        if Self.sharedLocks.contains(mount.type), option == nil {
            return Finding(
                reason: "the file is on \(mount.type): its lock keeps out programs on other machines, too",
                isProblem: false)
        }
        let reason = "the file is on \(mount.type): its lock keeps out only programs that use this mount"
        return Finding(reason: reason + (option.map { " (\($0))" } ?? ""), isProblem: false)
    }

    /// Whether the file is on a server, or on a file system in user space.
    private var isOnServer: Bool {
        guard let type = mount?.type else { return false }
        return Self.sharedLocks.contains(type) || type.hasPrefix("fuse") || ["9p", "virtiofs"].contains(type)
    }

    private func mountFinding(_ surroundings: SidecarPaths) -> Finding? {
        guard file != nil, isMount else { return nil }
        return Finding(
            reason: "the file is a mount of its own and cannot be replaced: writes are rejected; mount its folder into "
                + "the container instead")
    }

    /// What the checks of a write find in a file that can be read.
    private func trialFindings(_ surroundings: SidecarPaths) -> [Finding] {
        guard let file, file.isFile, access.reads, !isOnServer else { return [] }
        if access.isImmutable { return [immutable(surroundings.file, "file")] }
        if let failure = WriteTrial.failure(ofFileAt: surroundings.file) {
            return [Finding(reason: "nothing can be stored: \(failure)")]
        }
        guard file.links > 1 else { return [] }
        return [
            Finding(
                reason:
                    "the file has \(file.links) names (hard links): a write makes a file of its own under this name, and "
                    + "the others keep the former state", isProblem: false)
        ]
    }

    private func fileFinding(_ surroundings: SidecarPaths) -> Finding? {
        let reason = examination.problems.first?.reason ?? ""
        switch examination.state {
        case .whole, .missing:
            return nil
        case .damaged:
            let remedy =
                lastGood?.isUsable == true
                ? "\(examination.isEmptied ? "" : "quarantines the file and ")restores the last good copy of \(lastGood?.time ?? "")"
                : "quarantines the file; there is no last good copy to restore"
            return Finding(
                reason: "the file is damaged: \(reason); "
                    + (examination.line.map { "correct line \($0), or run the command, which " }
                        ?? "the command ") + remedy,
                command: mendCommand(surroundings))
        case .notOurs:
            return Finding(
                reason: "\(reason); the file may belong to another program: it is not changed, and writes are rejected"
                    + (FileFormat.isOpenStep(atPath: surroundings.file) ? FileFormat.openStepRemedy : "")
                    + (examination.line.map {
                        "; if it is meant to be \(isJSON ? "JSON" : "a property list"), correct line \($0)"
                    } ?? ""))
        case .unsafe:
            // It may be a valid file of another program, so no command removes it.
            return Finding(
                reason: "the file is not safe to read: \(reason); it is not changed, and writes are rejected")
        case .unreadable:
            guard let file else { return Finding(reason: unreadableReason) }
            guard file.isFile, !access.reads else {
                return Finding(reason: unreadableReason, command: file.isDevice ? nil : moveAwayCommand(surroundings))
            }
            let chmod = ShellCommand.text(["chmod", "u+rw", surroundings.file])
            return Finding(
                reason: "you may not read the file: its permissions are \(file.permissions)",
                command: file.isOwn ? chmod : folder?.isOwn == true ? "\(chown(surroundings)) && \(chmod)" : nil)
        }
    }

    /// The command that mends the file. Names the suite if one is known, because a suite always belongs to this
    /// package.
    private func mendCommand(_ surroundings: SidecarPaths) -> String? {
        // The name of the program's own domain may look like a file name.
        let isOwn = suite.map { program.target == .suite($0) } ?? false
        let place = isOwn ? [] : ["-f", suite ?? surroundings.file]
        return ShellCommand.text(of: program, "doctor", ["--mend"] + place, words: [])
    }

    /// A file of another user is not replaced, because its owner would lose it.
    private func ownerFinding(_ surroundings: SidecarPaths) -> Finding? {
        guard let file, file.isFile, access.reads, !file.isOwn, geteuid() != 0 else { return nil }
        // Such a file system may show everything as another account's; a replacement keeps the owner then.
        if isOnServer, folder?.ownerID == file.ownerID { return nil }
        return Finding(
            reason: "the file belongs to another user: nothing can be stored",
            command: folder?.isOwn == true ? chown(surroundings) : nil)
    }

    private func chown(_ surroundings: SidecarPaths) -> String {
        ShellCommand.text(["sudo", "chown", "\(geteuid())", surroundings.file])
    }

    /// The command that moves the file away and imports the last good copy.
    private func moveAwayCommand(_ surroundings: SidecarPaths) -> String {
        let path = surroundings.file
        let move = ShellCommand.text(["mv", path, ShellCommand.unusedPath(path, "moved")])
        guard let lastGood, lastGood.isUsable else { return move }
        return restoreCommand(lastGood.path, surroundings).map { "\(move) && \($0)" } ?? move
    }

    private func restoreCommand(_ copy: String, _ surroundings: SidecarPaths) -> String? {
        ShellCommand.text(of: program, "import", ["-f", surroundings.file, "--replace"], words: [copy])
    }

    /// Values that cannot be read or stored again. The first command saves a copy; each removes one value.
    private func contentFindings(_ surroundings: SidecarPaths) -> [Finding] {
        guard examination.state == .whole else { return [] }
        var removed: [[String]] = []
        let path = surroundings.file
        return examination.problems.map { problem in
            // A problem of the whole file is not solved by removing entries, and an argument cannot contain NUL.
            guard let root = problem.keys.first, !problem.keys.joined().utf8.contains(0),
                !removed.contains(where: { problem.keys.starts(with: $0) })
            else { return Finding(reason: problem.line) }
            let place = ValuePath(root, problem.keys.dropFirst().map(ValuePath.Step.key)).text
            let copy = ShellCommand.text(["cp", "-p", path, ShellCommand.unusedPath(path, "copy")])
            let removal = ShellCommand.text(of: program, "unset", ["--force", "-f", path], words: [place])
            defer { removed.append(problem.keys) }
            return Finding(reason: problem.line, command: removal.map { removed.isEmpty ? "\(copy) && \($0)" : $0 })
        }
    }

    // MARK: - Beside the file

    private func temporaryFinding(_ surroundings: SidecarPaths) -> Finding? {
        if temporary == nil { return nil }
        // The holder of the lock may be writing the temporary file.
        if case .held = lock { return nil }
        // Writes to a file of another program are rejected.
        if examination.state == .notOurs { return nil }
        return Finding(
            reason: "a killed writer left \(surroundings.temporary); the next write removes it",
            command: mendCommand(surroundings))
    }

    private func copyFindings(_ surroundings: SidecarPaths) -> [Finding] {
        var findings: [Finding] = []
        if examination.state == .missing, let lastGood, lastGood.isUsable {
            findings.append(
                Finding(
                    reason: "the file was removed; its last good copy can be restored",
                    command: restoreCommand(lastGood.path, surroundings), isProblem: false))
        }
        if let lastGood, !lastGood.isUsable {
            let reason =
                !lastGood.metadata.isFile || lastGood.examination.state == .whole
                ? "it belongs to another user, or is a link" : lastGood.examination.problems.first?.reason
            findings.append(
                Finding(
                    reason: "the last good copy is not usable: \(reason ?? ""); the next write replaces it",
                    isProblem: false))
        }
        for copy in quarantined where copy.isWhole {
            findings.append(
                Finding(
                    reason: "\(copy.path) was quarantined and is intact",
                    command: restoreCommand(copy.path, surroundings),
                    isProblem: false))
        }
        return findings
    }
}

/// A problem or a note about the state of a file, and the command that solves it.
struct Finding {
    let reason: String
    var command: String?
    /// True for a problem, false for a note.
    var isProblem = true
}

extension ShellCommand {
    /// Returns the path with an ending that no existing file has.
    fileprivate static func unusedPath(_ path: String, _ ending: String) -> String {
        let names = [ending] + (2...99).map { "\(ending)-\($0)" }
        return names.map { "\(path).\($0)" }.first { FileMetadata($0) == nil } ?? "\(path).\(UUID().uuidString)"
    }
}
