import Foundation
import PersistentPreferences

extension Diagnosis {
    /// What is to be told, in the order in which it is to be mended.
    var findings: [Finding] {
        guard let surroundings else { return [unsearchableFolder ?? Finding(reason: unreadableReason)] }
        if let problem = surroundings.nameProblem { return [Finding(reason: "\(problem): nothing can be stored")] }
        let troubles = [
            unsearchableFolder ?? folderFinding(surroundings), lockFinding(surroundings), fileFinding(surroundings),
            ownerFinding(surroundings), contentFinding(surroundings), temporaryFinding(surroundings),
        ]
        return troubles.compactMap { $0 } + copyFindings(surroundings)
    }

    private var unreadableReason: String {
        "\(path) cannot be read: \(examination.problems.first?.reason ?? "it leads nowhere")"
    }

    // MARK: - Folder

    /// The first folder on the way in which nothing may be looked up.
    private var unsearchableFolder: Finding? {
        var folder = ""
        for name in path.utf8.split(separator: UInt8(ascii: "/")).dropLast() {
            folder += "/" + String(decoding: name, as: UTF8.self)
            guard let metadata = FileMetadata(folder), !Access(folder).searches else { continue }
            // Of a link, the folder that it leads to.
            let isOwn = (FileMetadata(folder + "/.") ?? metadata).isOwn
            return Finding(
                reason: "you may not look into the folder \(folder)",
                command: isOwn ? ShellCommand.text(["chmod", "u+rwx", folder]) : nil)
        }
        return nil
    }

    private func folderFinding(_ surroundings: FileSurroundings) -> Finding? {
        let folderPath = surroundings.folder
        guard let folder else {
            // A write makes it, in the first folder above it that is there.
            let above =
                sequence(first: folderPath) { $0 == "/" ? nil : FileSurroundings.folder(of: $0) }
                .first { FileMetadata($0) != nil } ?? "/"
            return FileMetadata(above)?.isFolder == true && Access(above).writes
                ? nil : Finding(reason: "the folder \(folderPath) is not there, and cannot be made in \(above)")
        }
        guard folder.isFolder else { return Finding(reason: "\(folderPath) is no folder") }
        if folderAccess.isOnReadOnlyVolume {
            return Finding(reason: "the volume of \(folderPath) is read-only: nothing can be stored")
        }
        guard !folderAccess.writes || !folderAccess.reads else { return nil }
        let isOwn = folder.isOwn
        return Finding(
            reason: "nothing can be stored in the folder \(folderPath): "
                + (isOwn ? "its permissions are \(folder.permissions)" : "it belongs to another user"),
            command: isOwn ? ShellCommand.text(["chmod", "u+rwx", folderPath]) : nil)
    }

    // MARK: - Lock

    private func lockFinding(_ surroundings: FileSurroundings) -> Finding? {
        switch lock {
        case .none, .free:
            return nil
        case .held(let holders):
            let stopped = holders.filter(\.isStopped)
            guard !stopped.isEmpty else {
                return Finding(reason: "the lock is \(lock.text): writes wait for that", isTrouble: false)
            }
            let needsRoot = geteuid() != 0 && stopped.contains { !$0.isOwn }
            return Finding(
                reason: "the lock is \(lock.text): writes wait until it goes on, or is killed",
                command: ShellCommand.text(
                    (needsRoot ? ["sudo"] : []) + ["kill", "-CONT"] + stopped.map { "\($0.pid)" }))
        case .blocked(let reason):
            return Finding(
                reason: "the lock file \(surroundings.lock) cannot be used: \(reason); nothing can be stored",
                command: unblockCommand(surroundings).map(ShellCommand.text))
        }
    }

    /// The command that makes the lock file usable; nil if there is none. No writer of this package locks a file that another
    /// user planted, so it can be removed. A lock file of root may be locked, so it is not removed.
    private func unblockCommand(_ surroundings: FileSurroundings) -> [String]? {
        guard let planted = FileMetadata(surroundings.lock) else { return nil }
        // The owner of the file may be holding it.
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

    private func fileFinding(_ surroundings: FileSurroundings) -> Finding? {
        let reason = examination.problems.first?.reason ?? ""
        switch examination.state {
        case .whole, .missing:
            return nil
        case .damaged:
            let remedy =
                lastGood?.isUsable == true
                ? "quarantines it and restores the last good copy of \(lastGood?.time ?? "")"
                : "quarantines it; there is no last good copy to restore"
            return Finding(
                reason: "the file is damaged: \(reason); "
                    + (examination.line.map { "correct line \($0), or let the command mend it, which " }
                        ?? "the command ") + remedy,
                command: mendCommand(surroundings))
        case .notOurs:
            return Finding(
                reason: "\(reason); this package has not written the file, leaves it as it is, and rejects writes"
                    + (examination.line.map { "; if it is meant to be a property list, correct line \($0)" } ?? ""))
        case .unsafe:
            // It may be a good file of another program, so no command takes it away.
            return Finding(
                reason: "the file is not safe to read: \(reason); it is left as it is, and writes are rejected")
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

    /// The command that mends the file. It names a suite if there is one, since a suite always belongs to this package.
    private func mendCommand(_ surroundings: FileSurroundings) -> String {
        if let suite, Target(domain: suite) != .suite(suite) {
            return ShellCommand.prefs("doctor", ["--mend", "--suite=\(suite)"], words: [])
        }
        return ShellCommand.prefs("doctor", ["--mend"], words: [suite ?? surroundings.file])
    }

    /// A file of another user is not replaced, since its owner would lose it.
    private func ownerFinding(_ surroundings: FileSurroundings) -> Finding? {
        guard let file, file.isFile, access.reads, !file.isOwn, geteuid() != 0 else { return nil }
        return Finding(
            reason: "the file belongs to another user: nothing can be stored",
            command: folder?.isOwn == true ? chown(surroundings) : nil)
    }

    private func chown(_ surroundings: FileSurroundings) -> String {
        ShellCommand.text(["sudo", "chown", "\(geteuid())", surroundings.file])
    }

    /// Moves the file out of the way, and imports the last good copy.
    private func moveAwayCommand(_ surroundings: FileSurroundings) -> String {
        let path = surroundings.file
        let move = ShellCommand.text(["mv", path, ShellCommand.unusedPath(path, "moved")])
        guard let lastGood, lastGood.isUsable else { return move }
        return "\(move) && \(restoreCommand(lastGood.path, surroundings))"
    }

    private func restoreCommand(_ copy: String, _ surroundings: FileSurroundings) -> String {
        ShellCommand.prefs("import", ["--domain", surroundings.file, "--replace"], words: [copy])
    }

    /// Values that could not be stored again, which `delete` removes; a copy keeps them.
    private func contentFinding(_ surroundings: FileSurroundings) -> Finding? {
        guard examination.state == .whole, let first = examination.problems.first else { return nil }
        let others = examination.problems.count - 1
        let path = surroundings.file
        var offenders: [[String]] = []
        for problem in examination.problems where !offenders.contains(problem.keys) { offenders.append(problem.keys) }
        // With its root a value is gone, too.
        let roots = Set(offenders.filter { $0.count == 1 })
        offenders.removeAll { $0.count > 1 && roots.contains([$0[0]]) }
        let removal =
            [ShellCommand.text(["cp", "-p", path, ShellCommand.unusedPath(path, "copy")])]
            + offenders.map { ShellCommand.prefs("delete", words: [path] + $0) }
        return Finding(
            reason: "\(VetRunner.line(first))" + (others > 0 ? "; and \(others) more, which `vet` tells" : ""),
            // No word of a command has a NUL in it, and what concerns the whole file is not mended by removing entries.
            command: offenders.contains([]) || offenders.joined().contains { $0.utf8.contains(0) }
                ? nil : removal.joined(separator: " && "))
    }

    // MARK: - Beside the file

    private func temporaryFinding(_ surroundings: FileSurroundings) -> Finding? {
        if temporary == nil { return nil }
        // Whoever holds the lock may be at work on it.
        if case .held = lock { return nil }
        return Finding(
            reason: "a writer that was killed has left \(surroundings.temporary); the next write removes it",
            command: mendCommand(surroundings))
    }

    private func copyFindings(_ surroundings: FileSurroundings) -> [Finding] {
        var findings: [Finding] = []
        if examination.state == .missing, let lastGood, lastGood.isUsable {
            findings.append(
                Finding(
                    reason: "the file was removed; its last good copy can be brought back",
                    command: restoreCommand(lastGood.path, surroundings), isTrouble: false))
        }
        if let lastGood, !lastGood.isUsable {
            let reason =
                lastGood.examination.state == .whole
                ? "is another user's, or a link" : lastGood.examination.problems.first?.reason
            findings.append(
                Finding(
                    reason: "the last good copy is of no use: \(reason ?? ""); the next write renews it",
                    isTrouble: false))
        }
        for copy in quarantined where copy.isWhole {
            findings.append(
                Finding(
                    reason: "\(copy.path) was quarantined, and is whole",
                    command: restoreCommand(copy.path, surroundings),
                    isTrouble: false))
        }
        return findings
    }
}
