import Foundation
import TestSupport
import Testing

/// Names, umasks, folders that others may write to, and files of others, each in its own process.
@Suite(.waits) final class SurroundingsProcessTests: SituationSuite {
    private static let beside = [".test.plist.lastgood", ".test.plist.lock", "test.plist"]

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// `NameVettingTests` has all names and their messages.
    @Test func suitesLeadNowhereElse() throws {
        for (name, flaw) in ["../../evil": "it contains a /", "..": "it begins with a dot", "": "it is empty"] {
            let message = "\"\(name)\" is not a valid suite name: \(flaw)"
            try run("suite", ["suite \(name) => \(message)", "set 1 => \(message)", "get => nil \(message)"])
        }
        let good = ["a..", "a b", "%2e%2e%2f", "~", "$HOME", String(repeating: "é", count: 100)]
        for name in good { try run("suite", ["suite \(name)", "set 1", "get => 1 ok"]) }
        let files = good.flatMap {
            [".config/\($0).plist", ".config/.\($0).plist.lock", ".config/.\($0).plist.lastgood"]
        }
        let found = FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []
        #expect(Set(found) == Set([".config"] + files))
    }

    // MARK: - Permissions

    @Test(arguments: ["000", "022", "077", "777", "277"]) func anyUmask(_ umask: String) throws {
        let folder = home.path
        chmod(folder, 0o777)
        let file = folder + "/deep/er/test.plist"
        let user = Root.asUser(12_345)
        try run("umask", user + ["umask \(umask)", "open \(file)", "set 1", "set 2"])
        // The next process can use all files.
        try run("umask", user + ["open \(file)", "get => 2 ok", "set 3", "get => 3 ok"])
        for name in ["deep", "deep/er"] { #expect(mode("\(folder)/\(name)") == 0o700, "\(name)") }
        for name in Self.beside { #expect(mode("\(folder)/deep/er/\(name)") == 0o600, "\(name)") }
    }

    /// What could not be stored is not read back, and is not stored by the next write.
    @Test func aUserDefaultsObjectInAReadOnlyFolder() throws {
        let config = home.path + "/.config"
        mkdir(config, 0o755)
        chmod(home.path, 0o755)
        if Root.isHere { chown(config, 12_345, 12_345) }
        let rejection = "UserDefaults could not be synchronized; the stored state is unchanged"
        try run(
            "read-only folder",
            Root.asUser(12_345) + [
                "shell chmod 555 \(config)", "key 7 => \(rejection)", "key => 0", "other-key 8 => \(rejection)",
                "shell chmod 755 \(config)", "other-key 2", "key => 0",
            ])
        let stored = try propertyList(at: home.file(".config/probe.rejected.plist"))
        #expect(stored as? [String: Int] == ["other": 2])
    }

    @Test func withoutPermission() throws {
        let folder = home.path + "/inner"
        mkdir(folder, 0o777)
        chmod(folder, 0o777)
        let file = folder + "/test.plist"
        let user = Root.asUser(12_345)
        if Root.isHere { chown(folder, 12_345, 12_345) }
        let denied = "\(file): open: Permission denied; the stored state is unchanged"
        let outside = "\(file): stat: Permission denied; the stored state is unchanged"
        func situation(_ name: String, mend: String, _ steps: Step...) throws {
            let names = Self.beside.joined(separator: " ")
            try run(
                name, user + ["open \(file)", "set 1"] + steps,
                later: ["shell \(mend)", "get => 1 ok", "set 1", "names \(folder) => \(names)"])
        }
        // A file that may not be read.
        try situation(
            "file 000", mend: "chmod 600 \(file)", "shell chmod 0 \(file)", "get => 1 \(denied)",
            "set 2 => \(denied)", "open \(file) => \(denied)", "set 2 => \(denied)")
        // A folder that may not be searched.
        try situation(
            "folder 600", mend: "chmod 700 \(folder)", "shell chmod 600 \(folder)", "get => 1 ok",
            "set 2 => \(folder)/.test.plist.lock: stat: Permission denied; the stored state is unchanged",
            "open \(file) => \(outside)", "get => nil \(outside)", "set 2 => \(outside)")
        // A folder that may not be read. Its files can be read, but a write fails because the folder cannot be flushed.
        let unlisted = "\(folder): open: Permission denied; the stored state is unchanged"
        try situation(
            "folder 300", mend: "chmod 700 \(folder)", "shell chmod 300 \(folder)", "set 2 => \(unlisted)",
            "get => 1 ok", "open \(file)", "get => 1 ok", "set 2 => \(unlisted)")
        // A folder that may not be written.
        try situation(
            "folder 500", mend: "chmod 700 \(folder)", "shell chmod 500 \(folder)", "set 2 => \(denied)",
            "get => 1 ok", "open \(file)", "get => 1 ok", "set 2 => \(denied)")
        // Damage that cannot be quarantined there.
        let damage =
            "\(file): is neither a binary nor an XML property list; the file is unchanged, and the last known state is "
            + "read"
        try situation(
            "damaged in folder 500",
            mend: "chmod 700 \(folder) && tail -n +2 \(folder)/.test.plist.lastgood > \(file)",
            "shell printf damaged > \(file) && chmod 500 \(folder); sleep 0.6", "get => 1 \(damage)",
            "set 2 => \(file): link: Permission denied; the stored state is unchanged",
            "shell test \"$(cat \(file))\" = damaged")
    }

    // MARK: - Others

    /// Root writes a file of another user's: that user's own processes read and write it as before.
    @Test(.enabled(if: Root.canRun("root writes another's file"), "only root can write for others"))
    func rootLeavesAFileToItsOwner() throws {
        for mode in [0o600, 0o640, 0o664] as [mode_t] {
            for isNew in [false, true] {
                let folder = "\(home.path)/\(mode)-\(isNew)"
                mkdir(folder, 0o700)
                chown(folder, 12_345, 12_345)
                let file = folder + "/test.plist"
                let user = Root.asUser(12_345) + ["open \(file)"]
                if !isNew {
                    try run("owner", user + ["set 1"])
                    chmod(file, mode)
                    // The user has never written, so root makes the files beside the file.
                    for name in Self.beside.prefix(2) { unlink("\(folder)/\(name)") }
                }
                try run("root", ["open \(file)", "set 2"])
                for name in Self.beside {
                    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                    #expect(attributes[.ownerAccountID] as? Int == 12_345, "\(name)")
                    #expect(attributes[.groupOwnerAccountID] as? Int == 12_345, "\(name)")
                }
                #expect(self.mode(file) == (isNew ? 0o600 : mode))
                try run("owner", user, later: ["get => 2 ok", "set 3", "get => 3 ok"])
                try run("root again", ["open \(file)", "get => 3 ok", "set 4"])
                // Damage that root repairs by a write is repaired for the owner, too.
                try Data("damaged".utf8).write(to: URL(filePath: file))
                let mended = try Child("Probe", ["surroundings", "open \(file)", "set 4"], home: home).wait()
                    .output
                #expect(mended.contains("and the last good copy of "), "\(mended)")
                #expect(mended.contains("; quarantined as \(file).corrupt-"), "\(mended)")
                try run("owner", user, later: ["get => 4 ok", "set 5", "get => 5 ok"])
            }
        }
    }

    /// In a folder of a group, a member's write would take the file from its owner, so it is rejected. The owner can
    /// still write.
    @Test(.enabled(if: Root.canRun("a folder of a group"), "only root can be several users"))
    func aFolderOfAGroup() throws {
        let folder = home.path + "/group"
        mkdir(folder, 0o770)
        chown(folder, 12_345, 100)
        chmod(folder, 0o777)
        let file = folder + "/test.plist"
        let (owner, member) = (Root.asUser(12_345), Root.asUser(22_222))
        try run("owner", owner + ["open \(file)", "set 1"])
        chmod(file, 0o666)
        // With the owner's lock file, which a member may not open, and without one, which a member must not make.
        let refused = "\(file): belongs to another user; a write would change its owner; the stored state is unchanged"
        let locked = "\(folder)/.test.plist.lock: open: Permission denied; the stored state is unchanged"
        try run("member", member + ["open \(file)", "get => 1 ok", "set 2 => \(locked)", "get => 1 ok"])
        unlink(folder + "/.test.plist.lock")
        try run("member", member + ["open \(file)", "set 2 => \(refused)", "get => 1 ok"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                ".test.plist.lastgood", "test.plist",
            ])
        try run(
            "owner", owner + ["open \(file)"],
            later: ["get => 1 ok", "set 3", "names \(folder) => \(Self.beside.joined(separator: " "))"])
    }

    /// Another user has planted files first. They are neither followed nor locked.
    @Test(
        .enabled(if: Root.canRun("planted by another user"), "only root can be several users"),
        arguments: Planted.allCases)
    func plantedByAnother(_ kind: Planted) throws {
        for (number, place) in [".test.plist.lock", ".test.plist.tmp", ".test.plist.lastgood"].enumerated() {
            // In the usual form, a file is new or old in turn.
            for isNew in Hazard.each(2, of: number == 1 ? [false, true] : [true, false]) {
                let folder = "\(home.path)/\(place)-\(isNew)"
                mkdir(folder, 0o777)
                chmod(folder, 0o1777)
                let file = folder + "/test.plist"
                let victim = Root.asUser(12_345) + ["open \(file)"]
                if !isNew { try run("victim", victim + ["set 1"]) }
                // The victim may write there. It is the target of planted links.
                let treasure = folder + "/treasure"
                try Data("treasure".utf8).write(to: URL(filePath: treasure))
                chown(treasure, 12_345, 12_345)
                let path = "\(folder)/\(place)"
                remove(path)
                kind.plant(at: path, treasure)
                let message = kind.message(in: place, path)
                let old = isNew ? "nil" : "1"
                try run(
                    "\(kind) as \(place)",
                    victim + ["set 2 => \(message ?? "ok")", "get => \(message == nil ? "2" : old) ok"])
                #expect(try String(contentsOfFile: treasure, encoding: .utf8) == "treasure")
                #expect(mode(treasure) == 0o644)
                remove(path)
                try run("\(kind) removed", victim, later: ["set 3", "get => 3 ok"])
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names == Self.beside + ["treasure"], "\(kind) as \(place)")
            }
        }
    }

    enum Planted: CaseIterable {
        case link, danglingLink, fifo, folder, closedFile, openFile

        func plant(at path: String, _ treasure: String) {
            switch self {
            case .link: symlink(treasure, path)
            case .danglingLink: symlink(treasure + "-new", path)
            case .fifo: mkfifo(path, 0o666)
            case .folder: mkdir(path, 0o755)
            case .closedFile, .openFile: try? Data("planted".utf8).write(to: URL(filePath: path))
            }
            lchown(path, 22_222, 22_222)
            let modes: [Self: mode_t] = [.fifo: 0o666, .folder: 0o755, .closedFile: 0, .openFile: 0o666]
            if let mode = modes[self] { chmod(path, mode) }
        }

        /// The error of a write; nil if it succeeds.
        func message(in place: String, _ path: String) -> String? {
            if place == ".test.plist.lastgood" { return nil }
            let reason =
                switch self {
                case _ where place == ".test.plist.tmp": "unlink: Operation not permitted"
                case .link, .danglingLink: "is a link; expected a regular file; remove the link"
                case .fifo: "is a FIFO"
                case .folder: "is a folder"
                case .closedFile: "open: Permission denied"
                case .openFile:
                    "belongs to user 22222; expected the caller, root or the owner of the preferences file"
                }
            return "\(path): \(reason); the stored state is unchanged"
        }
    }

    // MARK: - Mounts

    /// One file of the host, mounted into a container, cannot be replaced.
    @Test(.enabled(if: Root.canRun("a file that is a mount"))) func aFileThatIsAMount() throws {
        let (file, host) = (home.path + "/test.plist", home.path + "/host.plist")
        try writePropertyList(["ProbePrefs": ["count": 1]], to: URL(filePath: file))
        try writePropertyList(["ProbePrefs": ["count": 2]], to: URL(filePath: host))
        let reason = "is a mount of its own and cannot be replaced; mount its folder into the container instead"
        try run(
            "mount", through: ["/usr/bin/unshare", "--mount"],
            [
                "shell mount --bind \(host) \(file)", "open \(file)", "get => 2 ok",
                "set 3 => \(file): \(reason); the stored state is unchanged", "get => 2 ok",
                "names \(home.path) => .test.plist.lock host.plist test.plist",
            ])
    }

    /// A file system with stamps of whole seconds. Only the bytes show an edit in place within one second.
    @Test(.enabled(if: Root.canRun("stamps of one second"))) func stampsOfOneSecond() throws {
        let (image, folder) = (home.path + "/image", home.path + "/ext3")
        let file = folder + "/test.plist"
        let make = "truncate -s 8M \(image) && /sbin/mkfs.ext3 -q -I 128 \(image) >/dev/null 2>&1 && mkdir \(folder)"
        let reason = "\(file): was changed by another program during the update; the stored state is unchanged"
        try run(
            "ext3", through: ["/usr/bin/unshare", "--mount"],
            [
                "shell \(make) && mount -o loop \(image) \(folder)", "open \(file)", "set 1", "write first",
                "edit \(file) => \(reason)", "read => other ok", "write again", "read => again ok",
            ])
    }
}
