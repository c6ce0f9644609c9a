import Foundation
import TestSupport
import Testing

/// Contract 11 with two real users: the links and files that one plants do no harm to the programs of the other.
///
/// Users 12345 (the victim) and 22222 (who plants) need no account. Root is the third.
@Suite(.enabled(if: Root.canRun("exploits by another user"), "only root can be several users"))
struct OtherUsersTests {
    private static let victim: uid_t = 12_345
    private static let attacker: uid_t = 22_222

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
    }

    private func make(_ name: String, owner: uid_t, mode: mode_t) -> String {
        let path = folder.path + "/" + name
        mkdir(path, 0o700)
        chown(path, owner, owner)
        chmod(path, mode)
        return path
    }

    private func write(_ path: String, _ list: [String: Any], owner: uid_t, mode: mode_t) throws {
        try writePropertyList(list, to: URL(filePath: path))
        chown(path, owner, owner)
        chmod(path, mode)
    }

    private func link(_ path: String, to target: String, owner: uid_t) {
        #expect(symlink(target, path) == 0)
        lchown(path, owner, owner)
    }

    /// The inode, mode, owner and bytes of a file, and the names in its folder: they show whether an access changed anything.
    private struct Trace: Equatable {
        let inode: ino_t
        let mode: mode_t
        let owner: uid_t
        let bytes: Data?
        let names: [String]

        init(_ path: String) throws {
            var status = stat()
            #expect(lstat(path, &status) == 0)
            (inode, mode, owner) = (status.st_ino, status.st_mode, status.st_uid)
            bytes = try? Data(contentsOf: URL(filePath: path))
            let folder = URL(filePath: path).deletingLastPathComponent().path
            names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        }
    }

    private func refusal(_ link: String) -> String {
        "\(link): is a link of user \(Self.attacker), who does not own the target; it is not followed; "
            + "the file was left as it is"
    }

    // MARK: - Links

    /// Root reads a user's settings, where that user has put a link to a file that only root may read.
    @Test(arguments: ["file", "folder", "missing"]) func rootFollowsNoLinkOfAUserToAFileOfRoot(_ kind: String) throws {
        var situation = try Situation()
        let (home, treasury) = (make("home", owner: Self.attacker, mode: 0o755), make("root", owner: 0, mode: 0o700))
        let secret = treasury + "/app.plist"
        try write(secret, ["ProbePrefs": ["count": 7]], owner: 0, mode: 0o600)
        let planted = kind == "folder" ? home + "/config" : home + "/app.plist"
        let target = ["file": secret, "folder": treasury, "missing": treasury + "/new.plist"][kind] ?? ""
        link(planted, to: target, owner: Self.attacker)
        let before = try Trace(secret)
        let path = kind == "folder" ? planted + "/app.plist" : planted
        let trouble = refusal(planted)
        try situation.run(
            "a user's link to root's \(kind)",
            [("open \(path)", trouble), ("get", "nil \(trouble)"), ("set 2", trouble)])
        #expect(try Trace(secret) == before)
        // The same user's link to a file of that user's own leads there.
        unlink(planted)
        let own = make("own", owner: Self.attacker, mode: 0o755)
        try write(own + "/app.plist", ["ProbePrefs": ["count": 1]], owner: Self.attacker, mode: 0o644)
        link(planted, to: kind == "folder" ? own : own + "/app.plist", owner: Self.attacker)
        try situation.run("a user's own link", [("open \(path)", "ok"), ("get", "1 ok"), ("set 2", "ok")])
        #expect(try Trace(own + "/app.plist").owner == Self.attacker)
        situation.report("links of a user, read by root: \(kind)")
    }

    /// In a folder like /tmp, one user's link leads another user's program to that user's own files.
    @Test func aProgramFollowsNoLinkOfAnotherUserToItsOwnFiles() throws {
        var situation = try Situation()
        let (shared, own) = (
            make("shared", owner: 0, mode: 0o1777), make("own", owner: Self.victim, mode: 0o700)
        )
        let (keys, domain) = (own + "/authorized_keys", own + "/other.plist")
        try Data("ssh-ed25519 AAAA".utf8).write(to: URL(filePath: keys))
        chown(keys, Self.victim, Self.victim)
        try write(domain, ["Other": ["a": 1]], owner: Self.victim, mode: 0o600)
        for target in [keys, domain, own + "/new.plist"] {
            let planted = shared + "/app.plist"
            link(planted, to: target, owner: Self.attacker)
            let before = try [keys, domain].map(Trace.init)
            let trouble = refusal(planted)
            try situation.run(
                "a link to \(target)",
                Root.asUser(Int(Self.victim)) + [
                    ("open \(planted)", trouble), ("get", "nil \(trouble)"), ("set 2", trouble),
                ])
            #expect(try [keys, domain].map(Trace.init) == before)
            // The user's own link in the same place is followed.
            unlink(planted)
        }
        link(shared + "/app.plist", to: domain, owner: Self.victim)
        try situation.run(
            "a link of one's own",
            Root.asUser(Int(Self.victim)) + [("open \(shared)/app.plist", "ok"), ("set 2", "ok"), ("get", "2 ok")])
        unlink(shared + "/app.plist")
        link(shared + "/app.plist", to: domain, owner: 0)
        try situation.run(
            "a link of root",
            Root.asUser(Int(Self.victim)) + [("open \(shared)/app.plist", "ok"), ("get", "2 ok")])
        situation.report("links in a folder that everybody may write to")
    }

    /// A link to a terminal: the terminal is not opened, so it does not become the controlling terminal of the process.
    @Test(.enabled(if: Tool.python.isThere, "needs python3")) func aLinkToATerminalIsNotOpened() throws {
        let path = folder.path + "/app.plist"
        // A terminal that controls no session, and a session without a terminal.
        let script = """
            import os, subprocess, sys
            _, terminal = os.openpty()
            os.symlink(os.ttyname(terminal), sys.argv[1])
            sys.exit(subprocess.run(sys.argv[2:], start_new_session=True).returncode)
            """
        let probe = try Child.executable("Probe").path
        let steps = ["terminal", "open \(path)", "get", "set 1", "terminal"]
        let lines = try Tool.python.run(["-c", script, path, probe, "surroundings"] + steps).split(separator: "\n")
        try #require(lines.count == steps.count, "\(lines)")
        #expect(lines[0] == "terminal: none" && lines[4] == "terminal: none")
        #expect(lines[2].hasSuffix("is a device; the file was left as it is"), "\(lines[2])")
    }

    // MARK: - Access control lists

    /// A user who is named in the access control list of a file keeps access, and the owning group gains none.
    @Test(.enabled(if: Tool.setfacl.isThere, "needs setfacl"))
    func anAccessControlListIsKept() throws {
        var situation = try Situation()
        let place = make("place", owner: Self.victim, mode: 0o755)
        let file = place + "/app.plist"
        try write(file, ["ProbePrefs": ["count": 1]], owner: Self.victim, mode: 0o600)
        try Tool.setfacl.run(["-m", "u:\(Self.attacker):r,g::-", file])
        let list = try Tool.getfacl.run(["-n", "-c", file])
        #expect(list.contains("user:\(Self.attacker):r--") && list.contains("group::---"), "\(list)")
        try situation.run(
            "the owner", Root.asUser(Int(Self.victim)) + [("open \(file)", "ok"), ("set 2", "ok"), ("set 3", "ok")])
        #expect(try Tool.getfacl.run(["-n", "-c", file]) == list)
        try situation.run(
            "who is named", Root.asUser(Int(Self.attacker)) + [("open \(file)", "ok"), ("get", "3 ok")])
        // Nobody else may read what recovery needs.
        #expect(
            try Tool.getfacl.run(["-n", "-c", place + "/.app.plist.lastgood"])
                == "user::rw-\ngroup::---\nother::---\n\n")
        situation.report("a file with a list of users")
    }

    /// The writer cannot keep the group of a file with an access control list. The mode alone suggests that no group matters.
    @Test(.enabled(if: Tool.setfacl.isThere, "needs setfacl"))
    func aListOfAnotherGroupIsNotGivenToTheWritersGroup() throws {
        var situation = try Situation()
        let place = make("place", owner: Self.victim, mode: 0o755)
        let file = place + "/app.plist"
        try write(file, ["ProbePrefs": ["count": 1]], owner: Self.victim, mode: 0o644)
        chown(file, Self.victim, 33_333)
        try Tool.setfacl.run(["-m", "u:\(Self.attacker):r,g::-,o::r", file])
        let list = try Tool.getfacl.run(["-n", "-c", file])
        let trouble =
            "\(file): its group cannot be kept, and another group would change who has access; "
            + "the stored state is unchanged"
        try situation.run("the owner", Root.asUser(Int(Self.victim)) + [("open \(file)", "ok"), ("set 2", trouble)])
        #expect(try Tool.getfacl.run(["-n", "-c", file]) == list)
        try Tool.setfacl.run(["-b", file])
        chmod(file, 0o644)
        try situation.run("without a list", Root.asUser(Int(Self.victim)) + [("open \(file)", "ok"), ("set 2", "ok")])
    }

    /// The default access control list of a folder gives nobody access to a file that a write replaces or creates.
    @Test(.enabled(if: Tool.setfacl.isThere, "needs setfacl"))
    func aFoldersListOpensNoFile() throws {
        var situation = try Situation()
        let place = make("place", owner: Self.victim, mode: 0o755)
        let file = place + "/app.plist"
        try write(file, ["ProbePrefs": ["count": 1]], owner: Self.victim, mode: 0o640)
        try Tool.setfacl.run(["-d", "-m", "u:\(Self.attacker):rw", place])
        try situation.run("the owner", Root.asUser(Int(Self.victim)) + [("open \(file)", "ok"), ("set 2", "ok")])
        #expect(try Tool.getfacl.run(["-n", "-c", file]) == "user::rw-\ngroup::r--\nother::---\n\n")
        let trouble = "\(file): open: Permission denied; the file was left as it is"
        try situation.run(
            "who is named by the folder",
            Root.asUser(Int(Self.attacker)) + [("open \(file)", trouble), ("get", "nil \(trouble)")])
        // The list gives no access to a new file either.
        let new = place + "/new.plist"
        try situation.run("a new file", Root.asUser(Int(Self.victim)) + [("open \(new)", "ok"), ("set 1", "ok")])
        for name in ["new.plist", ".new.plist.lock", ".new.plist.lastgood"] {
            #expect(open(place + "/" + name, as: Self.attacker) == EACCES, "\(name)")
        }
        situation.report("a folder with a list for new files")
    }

    /// When a file is closed to its group, the copy of it is closed as well.
    @Test func theCopyOfAFileThatIsClosedIsClosed() throws {
        var situation = try Situation()
        let place = make("place", owner: Self.victim, mode: 0o755)
        let file = place + "/app.plist"
        let owner = Root.asUser(Int(Self.victim))
        try situation.run("the owner", owner + [("open \(file)", "ok"), ("set 1", "ok")])
        chmod(file, 0o644)
        try situation.run("the owner", owner + [("open \(file)", "ok"), ("set 2", "ok")])
        chmod(file, 0o600)
        for name in ["app.plist", ".app.plist.lastgood"] {
            #expect(open(place + "/" + name, as: Self.attacker, group: Self.victim) == EACCES, "\(name)")
        }
        situation.report("a file that is closed to its group")
    }

    /// The `errno` of an `open` by another user; 0 if it succeeds.
    private func open(_ path: String, as user: uid_t, group: gid_t? = nil) -> Int32 {
        let script =
            "import os,sys\nos.setgroups([])\nos.setgid(\(group ?? user))\nos.setuid(\(user))\n"
            + "try: os.open(sys.argv[1], os.O_RDONLY); print(0)\nexcept OSError as e: print(e.errno)"
        let output = try? Tool.python.run(["-c", script, path])
        return output.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? -1
    }

    // MARK: - Paths

    /// Slashes at the end and in a row: root's first write in a user's home makes that user's folders.
    @Test(arguments: ["/", "//", "/."]) func rootMakesTheFoldersOfAUserWhateverTheSlashes(_ slashes: String) throws {
        let home = make("home", owner: Self.victim, mode: 0o755)
        let environments = [
            ["HOME": home + slashes], ["HOME": "/", "XDG_CONFIG_HOME": "/\(home)\(slashes)/deep\(slashes)"],
        ]
        for (environment, place) in zip(environments, [home + "/.config", home + "/deep"]) {
            let result = try Child("Probe", ["report"], environment: environment).wait()
            #expect(result.output == "init: ok\nwrite: ok\nread: 1 ok\n", "\(environment)")
            for path in [place, place + "/Probe.plist", place + "/.Probe.plist.lock"] {
                #expect(try Trace(path).owner == Self.victim, "\(path)")
            }
        }
        var situation = try Situation()
        let file = home + "/" + slashes + "/new" + slashes + "/app.plist"
        try situation.run("a path", [("open \(file)", "ok"), ("set 1", "ok"), ("get", "1 ok")])
        #expect(try Trace(home + "/new/app.plist").owner == Self.victim)
    }

    // MARK: - Locks

    /// Another user's lock file, held by that user: a writer is told at once, and does not wait.
    @Test func aLockHeldByAnotherUserBlocksNobody() throws {
        var situation = try Situation()
        let shared = make("shared", owner: 0, mode: 0o1777)
        let file = shared + "/app.plist"
        let lock = shared + "/.app.plist.lock"
        try Data().write(to: URL(filePath: lock))
        chown(lock, Self.attacker, Self.attacker)
        chmod(lock, 0o666)
        let held = Foundation.open(lock, O_RDONLY | O_CLOEXEC)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        let trouble =
            "\(lock): belongs to user \(Self.attacker); expected the caller, root or the owner of the preferences file; "
            + "the stored state is unchanged"
        for user in [Root.asUser(Int(Self.victim)), []] {
            // A program that waits is ended, and has given no answer.
            try situation.run(
                "a planted lock", through: ["/usr/bin/timeout", "-s", "KILL", "40"],
                user + [("open \(file)", "ok"), ("set 1", trouble), ("get", "nil ok")])
        }
        situation.report("a lock held by another user")
    }

    /// A hard link to another file of the victim stands in the place of the lock file: that file is neither locked nor changed.
    @Test func aSecondNameOfAFileOfTheOwnerIsNoLockFile() throws {
        var situation = try Situation()
        let shared = make("shared", owner: 0, mode: 0o1777)
        let log = folder.path + "/world.log"
        try Data().write(to: URL(filePath: log))
        chown(log, Self.victim, Self.victim)
        chmod(log, 0o666)
        let lock = shared + "/.app.plist.lock"
        #expect(Foundation.link(log, lock) == 0)
        let held = Foundation.open(log, O_RDONLY | O_CLOEXEC)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        let trouble =
            "\(lock): is open to other users and has contents or a second name; expected an empty file with one name; "
            + "the stored state is unchanged"
        try situation.run(
            "a second name", through: ["/usr/bin/timeout", "-s", "KILL", "40"],
            Root.asUser(Int(Self.victim)) + [("open \(shared)/app.plist", "ok"), ("set 1", trouble)])
        var status = stat()
        #expect(lstat(log, &status) == 0 && status.st_mode & 0o777 == 0o666)
    }
}

/// A program of the machine that a test compares with, if it is there.
enum Tool: String {
    case setfacl, getfacl
    case python = "python3"

    var isThere: Bool { Hazard.canRun("surroundings: \(rawValue)", if: path != nil, else: "\(rawValue) is missing") }

    private var path: String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + rawValue }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        guard let path else { throw CocoaError(.fileNoSuchFile) }
        let result = try Child(URL(filePath: path), arguments, environment: [:]).wait()
        if result.code != 0 { Issue.record("\(rawValue): \(result.errors)") }
        return result.output
    }
}
