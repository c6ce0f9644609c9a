import Foundation
import TestSupport
import Testing

/// Contract 11 with two real users, those of `TwoUsers`: the links and files that one plants do no harm to the programs of the other,
/// and a write does not change who may use a file.
@Suite(.waits, .enabled(if: Root.canRun("exploits by another user"), "only root can be several users"))
final class OtherUsersTests: SituationSuite {
    private let victim = TwoUsers.victim
    private let attacker = TwoUsers.attacker
    private let users: TwoUsers
    /// A folder of the victim, and a file in it.
    private let place: String
    private var app: String { place + "/app.plist" }

    override init() throws {
        users = try TwoUsers()
        place = users.make("place", owner: victim, mode: 0o755)
        try super.init()
    }

    private func refusal(_ link: String) -> String {
        "\(link): is a link of user \(attacker), who does not own the target; it is not followed; "
            + "the stored state is unchanged"
    }

    // MARK: - Links

    /// Root reads a user's settings. In their place, that user has put a link to a file that only root may read.
    @Test(arguments: ["file", "folder", "missing"]) func rootFollowsNoLinkOfAUserToAFileOfRoot(_ kind: String) throws {
        let (home, treasury) = (
            users.make("home", owner: attacker, mode: 0o755), users.make("root", owner: 0, mode: 0o700)
        )
        let secret = treasury + "/app.plist"
        try users.write(secret, ["ProbePrefs": ["count": 7]], owner: 0, mode: 0o600)
        let planted = kind == "folder" ? home + "/config" : home + "/app.plist"
        let target = ["file": secret, "folder": treasury, "missing": treasury + "/new.plist"][kind] ?? ""
        users.link(planted, to: target, owner: attacker)
        let before = try TwoUsers.Trace(secret)
        let path = kind == "folder" ? planted + "/app.plist" : planted
        let message = refusal(planted)
        try run(
            "a user's link to root's \(kind)",
            ["open \(path) => \(message)", "get => nil \(message)", "set 2 => \(message)"])
        #expect(try TwoUsers.Trace(secret) == before)
        // The user's link to a file of that user is followed.
        unlink(planted)
        let own = users.make("own", owner: attacker, mode: 0o755)
        try users.write(own + "/app.plist", ["ProbePrefs": ["count": 1]], owner: attacker, mode: 0o644)
        users.link(planted, to: kind == "folder" ? own : own + "/app.plist", owner: attacker)
        try run("a user's own link", ["open \(path)", "get => 1 ok", "set 2"])
        #expect(try TwoUsers.Trace(own + "/app.plist").owner == attacker)
    }

    /// In a folder like /tmp, one user's link leads another user's program to that user's own files.
    @Test func aProgramFollowsNoLinkOfAnotherUserToItsOwnFiles() throws {
        let (shared, own) = (
            users.make("shared", owner: 0, mode: 0o1777), users.make("own", owner: victim, mode: 0o700)
        )
        let (keys, domain) = (own + "/authorized_keys", own + "/other.plist")
        try Data("ssh-ed25519 AAAA".utf8).write(to: URL(filePath: keys))
        chown(keys, victim, victim)
        try users.write(domain, ["Other": ["a": 1]], owner: victim, mode: 0o600)
        for target in [keys, domain, own + "/new.plist"] {
            let planted = shared + "/app.plist"
            users.link(planted, to: target, owner: attacker)
            let before = try [keys, domain].map(TwoUsers.Trace.init)
            let message = refusal(planted)
            try run(
                "a link to \(target)",
                TwoUsers.asVictim + [
                    "open \(planted) => \(message)", "get => nil \(message)", "set 2 => \(message)",
                ])
            #expect(try [keys, domain].map(TwoUsers.Trace.init) == before)
            // The user's own link in the same place is followed.
            unlink(planted)
        }
        users.link(shared + "/app.plist", to: domain, owner: victim)
        try run("a link of one's own", TwoUsers.asVictim + ["open \(shared)/app.plist", "set 2", "get => 2 ok"])
        unlink(shared + "/app.plist")
        users.link(shared + "/app.plist", to: domain, owner: 0)
        try run("a link of root", TwoUsers.asVictim + ["open \(shared)/app.plist", "get => 2 ok"])
    }

    /// A link to a terminal: the terminal is not opened, so it does not become the controlling terminal of the process.
    @Test(.enabled(if: Tool.python.isThere)) func aLinkToATerminalIsNotOpened() throws {
        let path = users.folder.path + "/app.plist"
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
        #expect(lines[2].hasSuffix("is a device; the stored state is unchanged"), "\(lines[2])")
    }

    // MARK: - Paths

    /// With slashes at the end and in a row, root's first write in a user's home makes folders that belong to the user.
    @Test(arguments: ["/", "//", "/."]) func rootMakesTheFoldersOfAUserWhateverTheSlashes(_ slashes: String) throws {
        let home = users.make("home", owner: victim, mode: 0o755)
        let environments = [
            ["HOME": home + slashes], ["HOME": "/", "XDG_CONFIG_HOME": "/\(home)\(slashes)/deep\(slashes)"],
        ]
        for (environment, place) in zip(environments, [home + "/.config", home + "/deep"]) {
            let result = try Child("Probe", ["report"], environment: environment).wait()
            #expect(result.output == "init: ok\nwrite: ok\nread: 1 ok\n", "\(environment)")
            for path in [place, place + "/Probe.plist", place + "/.Probe.plist.lock"] {
                #expect(try TwoUsers.Trace(path).owner == victim, "\(path)")
            }
        }
        let file = home + "/" + slashes + "/new" + slashes + "/app.plist"
        try run("a path", ["open \(file)", "set 1", "get => 1 ok"])
        #expect(try TwoUsers.Trace(home + "/new/app.plist").owner == victim)
    }

    // MARK: - Locks

    /// - Returns: a descriptor that has the lock of a new, empty file, which everybody may open.
    private func lockNew(_ path: String, of owner: uid_t) throws -> Int32 {
        try Data().write(to: URL(filePath: path))
        chown(path, owner, owner)
        chmod(path, 0o666)
        let held = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        #expect(flock(held, LOCK_EX) == 0)
        return held
    }

    /// Another user holds the lock of a lock file of that user. A writer gets an error at once, and does not wait.
    @Test func aLockHeldByAnotherUserBlocksNobody() throws {
        let shared = users.make("shared", owner: 0, mode: 0o1777)
        let file = shared + "/app.plist"
        let lock = shared + "/.app.plist.lock"
        let held = try lockNew(lock, of: attacker)
        defer { close(held) }
        let message =
            "\(lock): belongs to user \(attacker); expected the caller, root or the owner of the preferences file; "
            + "the stored state is unchanged"
        for user in [TwoUsers.asVictim, []] {
            // A program that waits would be killed without an answer.
            try run(
                "a planted lock", through: ["/usr/bin/timeout", "-s", "KILL", "40"],
                user + ["open \(file)", "set 1 => \(message)", "get => nil ok"])
        }
    }

    /// The lock file is a hard link to another file of the victim. That file is neither locked nor changed.
    @Test func aSecondNameOfAFileOfTheOwnerIsNotALockFile() throws {
        let shared = users.make("shared", owner: 0, mode: 0o1777)
        let log = users.folder.path + "/world.log"
        let lock = shared + "/.app.plist.lock"
        let held = try lockNew(log, of: victim)
        #expect(Foundation.link(log, lock) == 0)
        defer { close(held) }
        let message =
            "\(lock): is open to other users and has contents or a second name; expected an empty file with one name; "
            + "the stored state is unchanged"
        try run(
            "a second name", through: ["/usr/bin/timeout", "-s", "KILL", "40"],
            TwoUsers.asVictim + ["open \(shared)/app.plist", "set 1 => \(message)"])
        var status = stat()
        #expect(lstat(log, &status) == 0 && status.st_mode & 0o777 == 0o666)
    }

    // MARK: - Access control lists, as `setfacl` and `getfacl` show them, and modes

    /// A user who is named in the access control list of a file keeps access, and the owning group gains none.
    @Test(.enabled(if: Tool.setfacl.isThere))
    func anAccessControlListIsKept() throws {
        try users.write(app, ["ProbePrefs": ["count": 1]], owner: victim, mode: 0o600)
        try Tool.setfacl.run(["-m", "u:\(attacker):r,g::-", app])
        let list = try Tool.getfacl.run(["-n", "-c", app])
        #expect(list.contains("user:\(attacker):r--") && list.contains("group::---"), "\(list)")
        try run("the owner", TwoUsers.asVictim + ["open \(app)", "set 2", "set 3"])
        #expect(try Tool.getfacl.run(["-n", "-c", app]) == list)
        try run("who is named", TwoUsers.asAttacker + ["open \(app)", "get => 3 ok"])
        // Nobody else may read the last good copy.
        #expect(
            try Tool.getfacl.run(["-n", "-c", place + "/.app.plist.lastgood"])
                == "user::rw-\ngroup::---\nother::---\n\n")
    }

    /// The writer cannot keep the group of a file with an access control list. The mode alone suggests that no group
    /// matters.
    @Test(.enabled(if: Tool.setfacl.isThere))
    func aListOfAnotherGroupIsNotGivenToTheWritersGroup() throws {
        try users.write(app, ["ProbePrefs": ["count": 1]], owner: victim, mode: 0o644)
        chown(app, victim, 33_333)
        try Tool.setfacl.run(["-m", "u:\(attacker):r,g::-,o::r", app])
        let list = try Tool.getfacl.run(["-n", "-c", app])
        let message =
            "\(app): its group cannot be kept, and another group would change who has access; "
            + "the stored state is unchanged"
        try run("the owner", TwoUsers.asVictim + ["open \(app)", "set 2 => \(message)"])
        #expect(try Tool.getfacl.run(["-n", "-c", app]) == list)
        try Tool.setfacl.run(["-b", app])
        chmod(app, 0o644)
        try run("without a list", TwoUsers.asVictim + ["open \(app)", "set 2"])
    }

    /// The default access control list of a folder gives nobody access to a file that a write replaces or creates.
    @Test(.enabled(if: Tool.setfacl.isThere))
    func aFoldersListOpensNoFile() throws {
        try users.write(app, ["ProbePrefs": ["count": 1]], owner: victim, mode: 0o640)
        try Tool.setfacl.run(["-d", "-m", "u:\(attacker):rw", place])
        try run("the owner", TwoUsers.asVictim + ["open \(app)", "set 2"])
        #expect(try Tool.getfacl.run(["-n", "-c", app]) == "user::rw-\ngroup::r--\nother::---\n\n")
        let message = "\(app): open: Permission denied; the stored state is unchanged"
        try run(
            "who is named by the folder",
            TwoUsers.asAttacker + ["open \(app) => \(message)", "get => nil \(message)"])
        // The list gives no access to a new file, either.
        let new = place + "/new.plist"
        try run("a new file", TwoUsers.asVictim + ["open \(new)", "set 1"])
        for name in ["new.plist", ".new.plist.lock", ".new.plist.lastgood"] {
            #expect(users.open(place + "/" + name, as: attacker) == EACCES, "\(name)")
        }
    }
}
