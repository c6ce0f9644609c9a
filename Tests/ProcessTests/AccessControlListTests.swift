import Foundation
import TestSupport
import Testing

/// A write does not change who may use a file, with access control lists, as `setfacl` and `getfacl` show them, and
/// with modes.
@Suite(.enabled(if: Root.canRun("access control lists"), "only root can be several users"))
final class AccessControlListTests: SituationSuite {
    private let victim = TwoUsers.victim
    private let attacker = TwoUsers.attacker
    private let users: TwoUsers
    /// A folder of the victim, and a file in it.
    private let place: String
    private let file: String

    override init() throws {
        users = try TwoUsers()
        place = users.make("place", owner: victim, mode: 0o755)
        file = place + "/app.plist"
        try super.init()
    }

    /// A user who is named in the access control list of a file keeps access, and the owning group gains none.
    @Test(.enabled(if: Tool.setfacl.isThere))
    func anAccessControlListIsKept() throws {
        try users.write(file, ["ProbePrefs": ["count": 1]], owner: victim, mode: 0o600)
        try Tool.setfacl.run(["-m", "u:\(attacker):r,g::-", file])
        let list = try Tool.getfacl.run(["-n", "-c", file])
        #expect(list.contains("user:\(attacker):r--") && list.contains("group::---"), "\(list)")
        try run("the owner", TwoUsers.asVictim + ["open \(file)", "set 2", "set 3"])
        #expect(try Tool.getfacl.run(["-n", "-c", file]) == list)
        try run("who is named", TwoUsers.asAttacker + ["open \(file)", "get => 3 ok"])
        // Nobody else may read the last good copy.
        #expect(
            try Tool.getfacl.run(["-n", "-c", place + "/.app.plist.lastgood"])
                == "user::rw-\ngroup::---\nother::---\n\n")
        report("a file with a list of users")
    }

    /// The writer cannot keep the group of a file with an access control list. The mode alone suggests that no group
    /// matters.
    @Test(.enabled(if: Tool.setfacl.isThere))
    func aListOfAnotherGroupIsNotGivenToTheWritersGroup() throws {
        try users.write(file, ["ProbePrefs": ["count": 1]], owner: victim, mode: 0o644)
        chown(file, victim, 33_333)
        try Tool.setfacl.run(["-m", "u:\(attacker):r,g::-,o::r", file])
        let list = try Tool.getfacl.run(["-n", "-c", file])
        let message =
            "\(file): its group cannot be kept, and another group would change who has access; "
            + "the stored state is unchanged"
        try run("the owner", TwoUsers.asVictim + ["open \(file)", "set 2 => \(message)"])
        #expect(try Tool.getfacl.run(["-n", "-c", file]) == list)
        try Tool.setfacl.run(["-b", file])
        chmod(file, 0o644)
        try run("without a list", TwoUsers.asVictim + ["open \(file)", "set 2"])
    }

    /// The default access control list of a folder gives nobody access to a file that a write replaces or creates.
    @Test(.enabled(if: Tool.setfacl.isThere))
    func aFoldersListOpensNoFile() throws {
        try users.write(file, ["ProbePrefs": ["count": 1]], owner: victim, mode: 0o640)
        try Tool.setfacl.run(["-d", "-m", "u:\(attacker):rw", place])
        try run("the owner", TwoUsers.asVictim + ["open \(file)", "set 2"])
        #expect(try Tool.getfacl.run(["-n", "-c", file]) == "user::rw-\ngroup::r--\nother::---\n\n")
        let message = "\(file): open: Permission denied; the stored state is unchanged"
        try run(
            "who is named by the folder",
            TwoUsers.asAttacker + ["open \(file) => \(message)", "get => nil \(message)"])
        // The list gives no access to a new file, either.
        let new = place + "/new.plist"
        try run("a new file", TwoUsers.asVictim + ["open \(new)", "set 1"])
        for name in ["new.plist", ".new.plist.lock", ".new.plist.lastgood"] {
            #expect(users.open(place + "/" + name, as: attacker) == EACCES, "\(name)")
        }
        report("a folder with a list for new files")
    }

    /// If a file is closed to its group, its copy is closed, too.
    @Test func theCopyOfAFileThatIsClosedIsClosed() throws {
        let owner = TwoUsers.asVictim
        try run("the owner", owner + ["open \(file)", "set 1"])
        chmod(file, 0o644)
        try run("the owner", owner + ["open \(file)", "set 2"])
        chmod(file, 0o600)
        for name in ["app.plist", ".app.plist.lastgood"] {
            #expect(users.open(place + "/" + name, as: attacker, group: victim) == EACCES, "\(name)")
        }
        report("a file that is closed to its group")
    }
}
