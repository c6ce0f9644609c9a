import Foundation
import TestSupport
import Testing

/// What another user has planted in the way of a command that root runs.
@Suite(
    .enabled(
        if: Hazard.canRun(
            "surroundings: commands beside another user", if: geteuid() == 0, else: "only root can do that")))
struct HarnessOtherUsersTests {
    private let home: HarnessHome
    private let attacker: uid_t = 22_222

    init() throws {
        home = try HarnessHome()
        chmod(home.folder.path, 0o1777)
        try home.prefs("set", "int", "5")
    }

    private func plant(_ name: String, _ target: String) -> String {
        let link = home.path(name)
        #expect(symlink(target, link) == 0)
        lchown(link, attacker, attacker)
        return link
    }

    private func refusal(_ link: String) -> String {
        "\(link): is a link of user \(attacker), who does not own what it leads to; it is not followed"
    }

    @Test func noCommandFollowsAPlantedLink() throws {
        let secret = try home.write(["A": ["k": 1]], to: "secret.plist")
        chmod(secret.path, 0o600)
        let link = plant("planted.plist", secret.path)
        let before = try home.state()
        let refused = Printed.refused(refusal(link))
        let left = Printed.refused(refusal(link) + "; the file was left as it is")
        #expect(try home.prefs("export", link) == refused)
        #expect(try home.prefs("export", "--domain", home.suiteFile.path, link) == refused)
        #expect(try home.prefs("import", link) == refused)
        #expect(try home.prefs("import", "--dry-run", link) == refused)
        for words in [
            ["read", link], ["write", link, "A", "k", "2"], ["delete", link, "A"], ["read-type", link, "A"],
        ] {
            #expect(try home.prefs(words) == left, "\(words)")
        }
        #expect(try home.prefs("--file", link) == left)
        let reason = refusal(link).dropFirst(link.utf8.count + 2)
        #expect(try home.prefs("vet", link) == Printed("\(link): \(reason)\n", code: 1))
        let doctor = try home.prefs("doctor", link)
        #expect(doctor.output.contains("\(link) cannot be read: \(reason)") && doctor.code == 1, "\(doctor)")
        #expect(!doctor.output.contains("mend it:"), "\(doctor)")
        #expect(try home.state() == before)
    }

    @Test func aPlantedLockFileIsNamedAndTheCommandRemovesIt() throws {
        let path = home.path("x.plist")
        try home.prefs("write", path, "A", "k", "-int", "1")
        let lock = home.path(".x.plist.lock")
        chown(lock, attacker, attacker)
        let held = open(lock, O_RDONLY | O_CLOEXEC)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        let printed = try home.prefs("doctor", path, "--json")
        let report = try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any]
        let finding = try #require((report?["findings"] as? [[String: Any]])?.first)
        let reason = "is a lock file of user \(attacker), who does not own the file; it is not used"
        #expect(
            finding["reason"] as? String == "the lock file \(lock) cannot be used: \(reason); nothing can be stored")
        #expect(finding["command"] as? String == "rm \(lock)")
        let refused = Printed.refused("\(lock): \(reason); the stored state is unchanged")
        #expect(try home.prefs("write", path, "A", "k", "-int", "2") == refused)
        #expect(unlink(lock) == 0)
        #expect(try home.prefs("write", path, "A", "k", "-int", "2") == Printed())
    }

    /// What has no path is read all the same: pipes that a shell makes.
    @Test func importsReadPipes() throws {
        let script = "printf '%s' '{\"Integer Value\": 7}' | \"$0\" import /dev/stdin && \"$0\" get int"
        let prefs = try Child.executable("prefs").path
        let printed = Printed(
            try Child(URL(filePath: "/bin/bash"), ["-c", script, prefs], environment: ["HOME": home.folder.path]).wait()
        )
        #expect(printed == Printed("7\n"))
        let substitution = "\"$0\" import <(printf '%s' '{\"Integer Value\": 8}') && \"$0\" get int"
        let second = Printed(
            try Child(URL(filePath: "/bin/bash"), ["-c", substitution, prefs], environment: ["HOME": home.folder.path])
                .wait())
        #expect(second == Printed("8\n"))
        let pipe = home.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let named = "printf '%s' '{\"Integer Value\": 9}' > \"$1\" & \"$0\" import \"$1\" && \"$0\" get int"
        let third = Printed(
            try Child(URL(filePath: "/bin/bash"), ["-c", named, prefs, pipe], environment: ["HOME": home.folder.path])
                .wait())
        #expect(third == Printed("9\n"))
    }

    /// Nothing is waited for, and no device is opened.
    @Test func anImportOpensNoPipeOfAnotherUserAndNoDevice() throws {
        let pipe = home.path("pipe")
        #expect(mkfifo(pipe, 0o666) == 0)
        chown(pipe, attacker, attacker)
        #expect(try home.prefs("import", pipe) == .refused("\(pipe): is a FIFO"))
        #expect(try home.prefs("import", "/dev/zero") == .refused("/dev/zero: is a device"))
        #expect(try home.prefs("import", home.folder.path) == .refused("\(home.folder.path): is a folder"))
    }

    @Test func aRelativePathIsOneFromTheWorkingFolder() throws {
        let file = try home.write(["A": ["k": 1]], to: "x.plist").path
        let relative = String(repeating: "../", count: 30) + file.dropFirst()
        #expect(try home.prefs("vet", relative).code == 0)
        #expect(try home.prefs("export", "--domain", relative, relative + ".json") == Printed())
        #expect(try home.prefs("import", "--domain", relative, relative + ".json") == Printed())
        #expect(try home.prefs("doctor", relative).code == 0)
    }
}
