import Foundation
import Testing
import TestSupport

/// Commands of root on files that another user planted.
@Suite(.waits, .needs("surroundings: commands beside another user", geteuid() == 0, else: "only root can do that"))
final class HarnessOtherUsersTests: HarnessSuite {
    private let attacker: uid_t = 22_222

    override init() throws {
        try super.init()
        chmod(home.folder.path, 0o1777)
        try prefs("set", "int", "5")
    }

    private func plant(_ name: String, _ target: String) -> String {
        let link = home.path(name)
        #expect(symlink(target, link) == 0)
        lchown(link, attacker, attacker)
        return link
    }

    private func errorMessage(_ link: String) -> String {
        "\(link): is a link of user \(attacker), who does not own the target; it is not followed"
    }

    @Test func noCommandFollowsAPlantedLink() throws {
        let secret = try home.write(["A": ["k": 1]], to: "secret.plist")
        chmod(secret.path, 0o600)
        let link = plant("planted.plist", secret.path)
        let before = try home.state()
        let failed = Printed.failure(errorMessage(link))
        let left = Printed.failure(errorMessage(link) + "; the stored state is unchanged")
        #expect(try prefs("export", "-o", link, "--force") == failed)
        #expect(try prefs("export", "-f", home.suiteFile.path, "-o", link, "--force") == failed)
        #expect(try prefs("import", link) == failed)
        #expect(try prefs("import", "--dry-run", link) == failed)
        for words in [
            ["export", "-f", link], ["cp", "-f", link, "A", "B"],
            ["set", "-f", link, "A.k", "2"], ["unset", "-f", link, "A"], ["get", "--type", "-f", link, "A"],
        ] {
            #expect(try prefs(words) == left, "\(words)")
        }
        #expect(try prefs(in: link) == left)
        let reason = errorMessage(link).dropFirst(link.utf8.count + 2)
        let doctor = try prefs("doctor", "-f", link)
        #expect(doctor.output.contains("\(link) cannot be read: \(reason)") && doctor.code == 1, "\(doctor)")
        #expect(!doctor.output.contains("mend it:"), "\(doctor)")
        #expect(try home.state() == before)
    }

    /// As in the home of that user, who could put anything in its place anyway.
    @Test func anExportReplacesAFileOfTheOwnerOfTheFolder() throws {
        let (folder, file) = (home.path("shared"), home.path("shared/x.json"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try home.write("{}", to: "shared/x.json")
        for path in [folder, file] { chown(path, attacker, attacker) }
        chmod(folder, 0o777)
        #expect(try prefs("export", "-o", file, "--force") == Printed())
        #expect(try home.text("shared/x.json").contains("Integer Value"))
        chown(file, attacker + 1, attacker)
        let reason = "belongs to another user, in a folder that everybody may write to"
        #expect(try prefs("export", "-o", file, "--force") == .failure("\(file): \(reason)"))
    }

    /// Another user could make root restore any bytes.
    @Test func anUndoRecordOfAnotherUserIsNotUsed() throws {
        let path = home.path("x.plist")
        try prefs("set", "-f", path, "A.k", "1")
        let folder = home.path(".local/state/prefs/undo")
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasPrefix("x.plist-") })
        chown("\(folder)/\(name)", attacker, attacker)
        let before = try Data(contentsOf: URL(filePath: path))
        let printed = try prefs("undo", "-f", path)
        #expect(printed == .failure("\(folder)/\(name) belongs to another user"))
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    /// There, that user could lead root anywhere.
    @Test(arguments: [
        ("chown 22222 .", ""), ("mkdir real; ln -s real .local", ""),
        ("mkdir -p .local/state/prefs/undo; chown 22222 .local/state/prefs/undo", "/.local/state/prefs/undo"),
    ]) func noUndoRecordIsMadeInAHomeOfAnotherUser(script: String, place: String) throws {
        let path = home.path("x.plist")
        #expect(try home.bash("rm -r .local; \(script)") == Printed())
        let reason = "stored, but `undo` cannot revert it: \(home.folder.path)\(place) belongs to another user"
        #expect(try prefs("set", "-f", path, "A.k", "1") == Printed(errors: "prefs: \(reason)\n"))
        #expect(try prefs("get", "-f", path, "A.k") == Printed("1\n"))
        #expect(!home.paths.contains { $0.contains("undo/") })
    }

    @Test(arguments: ["chown 22222 .x.plist.lastgood", "mv .x.plist.lastgood c; ln -s c .x.plist.lastgood"])
    func aPlantedCopyIsNotUsable(script: String) throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        try prefs("set", "-f", path, "A.k", "1")
        #expect(try home.bash(script) == Printed())
        let reason =
            "the last good copy is not usable: it belongs to another user, or is a link; the next write replaces it"
        for _ in 0..<2 {
            let report = try home.doctor(path)
            #expect(report.findings.map { $0["reason"] as? String } == [reason])
            #expect((report.members["lastGood"] as? [String: Any])?["isUsable"] as? Bool == false)
            #expect(report.commands.isEmpty)
            // The second time, the file is missing.
            unlink(path)
        }
    }

    @Test func aPlantedLockFileIsNamedAndTheCommandRemovesIt() throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        try prefs("set", "-f", path, "A.k", "1")
        let lock = home.path(".x.plist.lock")
        chown(lock, attacker, attacker)
        let held = open(lock, O_RDONLY | O_CLOEXEC)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        let finding = try #require(try home.doctor(path).findings.first)
        let reason = "belongs to user \(attacker); expected the caller, root or the owner of the preferences file"
        #expect(
            finding["reason"] as? String == "the lock file \(lock) cannot be used: \(reason); nothing can be stored")
        #expect(finding["command"] as? String == "rm \(lock)")
        let failed = Printed.failure("\(lock): \(reason); the stored state is unchanged")
        #expect(try prefs("set", "-f", path, "A.k", "2") == failed)
        #expect(unlink(lock) == 0)
        #expect(try prefs("set", "-f", path, "A.k", "2") == Printed())
    }

    /// Pipes of a shell have no path in the file system, and can be read.
    @Test func importsReadPipes() throws {
        #expect(mkfifo(home.path("pipe"), 0o600) == 0)
        for (script, value) in [
            ("printf '%s' '{\"Integer Value\": 7}' | prefs import /dev/stdin", 7),
            ("prefs import <(printf '%s' '{\"Integer Value\": 8}')", 8),
            ("printf '%s' '{\"Integer Value\": 9}' > pipe & prefs import \"$HOME/pipe\"", 9),
        ] {
            #expect(try home.bash(script + " && prefs get int") == Printed("\(value)\n"))
        }
    }

    /// The import does not open the pipe, so it does not wait for a writer.
    @Test func anImportOpensNoPipeOfAnotherUserAndNoDevice() throws {
        let pipe = home.path("pipe")
        #expect(mkfifo(pipe, 0o666) == 0)
        chown(pipe, attacker, attacker)
        #expect(try prefs("import", pipe) == .failure("\(pipe): is a FIFO"))
        #expect(try prefs("import", "/dev/zero") == .failure("/dev/zero: is a device"))
    }

    /// Root does not export into a file that another user made in a shared folder.
    @Test func anExportIsNotWrittenIntoAPlantedFile() throws {
        let planted = try home.write(Data(), to: "out.json").path
        chown(planted, attacker, attacker)
        let printed = try prefs("export", "-o", planted, "--force")
        #expect(printed == .failure("\(planted): belongs to another user, in a folder that everybody may write to"))
        #expect(try Data(contentsOf: URL(filePath: planted)).isEmpty)
        // In the user's own folder, root may write the file. Its owner does not change.
        chmod(home.folder.path, 0o755)
        #expect(try prefs("export", "-o", planted, "--force") == Printed())
        #expect(try FileManager.default.attributesOfItem(atPath: planted)[.ownerAccountID] as? Int == Int(attacker))
    }

    @Test func anExportToAStreamIsWrittenToIt() throws {
        let printed = try home.bash(
            "(echo head; prefs export -o /dev/stdout; echo tail) > out; head -n 1 out; tail -n 1 out")
        #expect(printed == Printed("head\ntail\n"))
        #expect(try home.bash("prefs export -o >(grep -c Integer); wait $!") == Printed("1\n"))
        // A new file is not more open than the one that its content comes from. With --reveal, it is for its owner alone.
        try home.write(Data("{}".utf8), to: "open.json")
        for (umask, option, source, mode) in [
            ("022", "", "644", "644"), ("077", "", "644", "600"), ("022", "", "640", "640"), ("022", "", "600", "600"),
            ("022", "--reveal", "644", "600"),
        ] {
            let lines = """
                chmod \(source) open.json; rm -f new.json
                prefs export \(option) -f open.json -o new.json; stat -c %a new.json
                """
            #expect(try home.bash("umask \(umask); \(lines)") == Printed("\(mode)\n"), "\(source)")
        }
    }

    /// A relative path is never resolved against `/`.
    @Test func withoutAWorkingFolderARelativePathIsRejected() throws {
        let script = "mkdir gone && cd gone && rmdir \"$HOME/gone\" && prefs "
        let reason = "is relative, and the working folder is unknown"
        #expect(try home.bash(script + "export -o x.json 2>&1").output == "prefs: x.json: \(reason)\n")
        for command in ["doctor -f x.plist", "set -f x.plist R.k v", "diff x.plist x.plist"] {
            let printed = try home.bash(script + command)
            #expect(
                printed.errors.contains(reason) && printed.code == (command.hasPrefix("diff") ? 2 : 1), "\(printed)")
        }
    }

    @Test func aWorkingFolderMayHaveALongPath() throws {
        let long = Array(repeating: String(repeating: "d", count: 200), count: 8).joined(separator: "/")
        let script = "mkdir -p \(long) && cd \(long) && prefs set -f x.plist R.k 5 && prefs get -f x.plist R.k && ls"
        #expect(try home.bash(script) == Printed("5\nx.plist\n"))
    }

    @Test func showWorksInEveryLocale() throws {
        for locale in ["aaaaaaaaaaaa", "de_DE.UTF-8", "tr_TR", String(repeating: "x", count: 300)] {
            let shown = try home.bash("prefs show --json", ["LC_ALL": locale])
            #expect(try shown.output == prefs("show", "--json").output, "\(locale)")
            #expect(try home.bash("prefs show", ["LC_ALL": locale]).code == 0, "\(locale)")
        }
    }
}
