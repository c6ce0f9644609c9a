import Foundation
import TestSupport
import Testing

/// `prefs doctor` reports the holder of the lock and missing permissions. It calls a lock held only if another process
/// holds it, and names no innocent process.
@Suite(.waits) final class HarnessDoctorHoldersTests: HarnessSuite {
    @Test func doctorNamesTheLockHolder() throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        try prefs("set", "-f", path, "A.k", "v")
        try home.write("half", to: ".x.plist.tmp")
        let held = try home.lock("x.plist")
        defer { held.release() }
        let report = try home.doctor(path)
        let lock = try #require(report.lock)
        #expect(report.code == 0 && lock["state"] as? String == "held")
        // A temporary file is no problem while the lock is held.
        #expect(report.findings.count == 1 && report.findings[0]["isProblem"] as? Bool == false)
        guard HeldLock.isTold else { return }
        let holders = try #require(lock["holders"] as? [[String: Any]])
        // A child process that another test starts inherits all descriptors for a moment.
        let own = try #require(holders.first { $0["pid"] as? Int == Int(getpid()) })
        #expect(own["isStopped"] as? Bool == false && (own["name"] as? String)?.isEmpty == false)
        #expect(try prefs("doctor", "-f", path).output.contains(" \(getpid()) ("))
    }

    @Test(.enabled(if: HeldLock.isTold)) func doctorSuggestsContinuingAStoppedLockHolder() throws {
        let file = home.folder.file("x.plist")
        let writer = try PipedChild("prefs", ["stress-worker", file.path, "0", "1000000", "0", "0"], home: home.folder)
        // Repeats until the process is stopped while it holds the lock.
        repeat {
            writer.send(SIGCONT)
            _ = try writer.line()
            writer.send(SIGSTOP)
        } while try !isStopped(file)
        let report = try home.doctor(file.path)
        let command = try #require(report.commands.first)
        #expect(report.code == 1 && command.wholeMatch(of: /kill -CONT [0-9]+/) != nil)
        _ = writer.linesSoFar()
        _ = try Child(URL(filePath: "/bin/sh"), ["-c", command], environment: [:]).wait()
        #expect(try writer.line().contains(/^0 0 [0-9]+$/))
        writer.kill()
    }

    /// A child of the holder has the lock, too.
    @Test(.enabled(if: HeldLock.isTold)) func onlyTheStoppedOneOfTwoHoldersIsContinued() throws {
        try home.claim("x.plist")
        let printed = try home.bash(
            """
            exec 9<>.x.plist.lock; flock -x 9; sleep 600 >/dev/null & kill -STOP $!
            until grep -qs '^State:.T' /proc/$!/status; do :; done
            prefs doctor -f x.plist --json 9>&- >report; kill -KILL $!; echo $!; cat report
            """)
        let lines = printed.output.split(separator: "\n", maxSplits: 1).map(String.init)
        let report = DoctorReport(members: try Printed(lines[1]).object(), code: 0)
        #expect((report.lock?["holders"] as? [Any])?.count == 2, "\(printed)")
        #expect(report.commands == ["kill -CONT \(lines[0])"])
    }

    @Test(.enabled(if: HeldLock.isTold)) func allStoppedHoldersAreContinued() throws {
        try home.claim("x.plist")
        let printed = try home.bash(
            """
            exec 9<>.x.plist.lock; flock -x 9
            sleep 600 >/dev/null & a=$!; sleep 600 >/dev/null & b=$!; kill -STOP $a $b
            for p in $a $b; do until grep -qs '^State:.T' /proc/$p/status; do :; done; done
            exec 9>&-; prefs doctor -f x.plist --json >report; kill -KILL $a $b; echo $a; echo $b; cat report
            """)
        let lines = printed.output.split(separator: "\n", maxSplits: 2).map(String.init)
        try #require(lines.count == 3, "\(printed)")
        let report = DoctorReport(members: try Printed(lines[2]).object(), code: 1)
        let command = try #require(report.commands.first)
        #expect(command.hasPrefix("kill -CONT ") && report.commands.count == 1, "\(printed)")
        #expect(Set(command.split(separator: " ").dropFirst(2).map(String.init)) == Set(lines.prefix(2)))
        let text = report.findings.first?["reason"] as? String ?? ""
        for line in lines.prefix(2) { #expect(text.contains(" \(line) ("), "\(text)") }
    }

    /// Returns true if the doctor reports a stopped holder of the lock.
    private func isStopped(_ file: URL) throws -> Bool {
        guard isLocked(file) else { return false }
        let lock = try home.doctor(file.path).lock
        return (lock?["holders"] as? [[String: Any]])?.first?["isStopped"] as? Bool == true
    }

    // MARK: - Permissions

    @Test(
        .needs(
            "doctor: missing permissions", (try? asUser("\"$0\" --version", in: HarnessHome()).code) == 0,
            else: "root may do everything, and cannot be another user"),
        arguments: [
            ("chmod 000 x.plist", "you may not read the file: its permissions are 0000 ", "chmod u+rw FOLDER/x.plist"),
            (
                "chmod 500 .", "nothing can be stored in the folder FOLDER: its permissions are 0500 ",
                "chmod u+rwx FOLDER"
            ),
            ("chmod 000 .", "you may not search the folder FOLDER", "chmod u+rwx FOLDER"),
            (
                "chmod 000 .x.plist.lock", "the lock file FOLDER/.x.plist.lock cannot be used: ",
                "chmod u+rw FOLDER/.x.plist.lock"
            ),
        ])
    func doctorReportsMissingPermissions(setup: String, reason: String, command: String) throws {
        func run(_ script: String) throws -> Printed { try Self.asUser(script, in: home) }
        func text(_ pattern: String) -> String { pattern.replacingOccurrences(of: "FOLDER", with: home.folder.path) }
        let place = "-f '\(home.path("x.plist"))'"
        #expect(try run("\"$0\" set \(place) A.k u") == Printed())
        #expect(try run("touch .x.plist.lock .x.plist.lastgood; chmod 600 .x.plist.*") == Printed())
        #expect(try run("\"$0\" set \(place) A.k v; \(setup)") == Printed())
        let printed = try run("\"$0\" doctor \(place) --json")
        let finding = try #require((try printed.object()["findings"] as? [[String: Any]])?.first)
        #expect(printed.code == 1 && (finding["reason"] as? String)?.hasPrefix(text(reason)) == true)
        #expect(finding["command"] as? String == text(command))
        #expect(try run(text(command)) == Printed())
        #expect(try run("\"$0\" doctor \(place)").code == 0)
        #expect(try run("\"$0\" set \(place) A.k w") == Printed())
    }

    /// A write makes all folders above the file, if it may.
    @Test(
        .needs(
            "doctor: folders that are missing", (try? asUser("\"$0\" --version", in: HarnessHome()).code) == 0,
            else: "root may do everything, and cannot be another user"))
    func aFolderIsMadeWhereTheUserMay() throws {
        let doctor = "\"$0\" doctor -f no/no/no/x.plist"
        let printed = try Self.asUser(doctor, in: home)
        #expect(printed.code == 0 && printed.output.hasSuffix("\nnothing needs mending\n"), "\(printed)")
        let rejected = try Self.asUser("chmod 500 .; \(doctor)", in: home)
        let place = "the folder \(home.path("no/no/no")) does not exist and cannot be created in \(home.folder.path)"
        #expect(rejected.code == 1 && rejected.output.contains("problem: \(place)\n"), "\(rejected)")
        chmod(home.folder.path, 0o700)
    }

    /// Runs a script in the home folder, as a user other than root: the user of the tests, or `nobody` if that is root.
    /// `$0` is the path of `prefs`.
    private static func asUser(_ script: String, in home: HarnessHome) throws -> Printed {
        let folder = home.folder.path
        var words = ["/bin/sh", "-c", "cd '\(folder)' 2>&- ; \(script)", try Child.executable("prefs").path]
        if geteuid() == 0 {
            chown(folder, 65_534, 65_534)
            words = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + words
        }
        return Printed(
            try Child(URL(filePath: words[0]), Array(words.dropFirst()), environment: ["HOME": folder]).wait())
    }

    // MARK: - Locks that are held and are not

    #if os(Linux)
        /// On an overlay over two file systems, `/proc/locks` has another device than `stat`. No child of the shell gets
        /// the lock: it might get the number of the taker, too, and be the one that is named.
        @Test(.enabled(if: MountNamespace.canRun("holders on an overlay"))) func doctorNamesTheHolderOnAnOverlay()
            throws
        {
            let script = """
                cd "$0"; mkdir low all work; mount -t tmpfs tmpfs work; mkdir work/up work/work
                mount -t overlay overlay -o lowerdir=low,upperdir=work/up,workdir=work/work all
                "$1" set -f all/x.plist A.k v
                exec 9<>all/.x.plist.lock; flock -x 9
                "$1" doctor -f all/x.plist --json 9>&- >report; tr -d ' \\n' <report
                echo "holder $$"
                """
            let printed = try MountNamespace.run(script, home)
            let own = try #require(printed.output.firstMatch(of: /holder ([0-9]+)\n/)).1
            #expect(printed.output.contains("\"pid\":\(own)}"), "\(printed)")
        }

        /// Only the first namespace of processes lists a lock whose taker has ended.
        private static let isFirstNamespace =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) == "pid:[4026531836]"

        /// The process that took the lock has ended, and its number belongs to a process without the lock.
        @Test(.enabled(if: MountNamespace.canRun("a number of a process used again", if: isFirstNamespace)))
        func doctorNamesNoProcessWithTheNumberOfTheFormerTaker() throws {
            let script = """
                cd "$0"; "$1" set -f x.plist A.k v
                exec 9<>.x.plist.lock; flock -x 9
                inode=$(stat -c %i .x.plist.lock)
                taker=$(awk -v end=":$inode" '$2 == "FLOCK" && $6 ~ end "$" { print $5 }' /proc/locks)
                # Another process may get the number first.
                for attempt in $(seq 200); do
                    echo $((taker - 1)) >/proc/sys/kernel/ns_last_pid; sleep 600 9>&- & innocent=$!
                    test $innocent != $taker || break
                    kill $innocent
                done
                echo "taker $taker innocent $innocent holder $$"
                "$1" doctor -f x.plist --json 9>&- >report; tr -d ' \\n' <report
                kill $innocent
                """
            let printed = try MountNamespace.run(script, home)
            let numbers = try #require(
                printed.output.firstMatch(of: /taker ([0-9]+) innocent ([0-9]+) holder ([0-9]+)\n/), "\(printed)")
            guard numbers.1 == numbers.2 else {
                return Hazard.report("doctor: a number of a process used again: another process has got it")
            }
            #expect(printed.output.contains("\"pid\":\(numbers.3)}"), "\(printed)")
            #expect(!printed.output.contains("\"pid\":\(numbers.1)}"), "\(printed)")
        }

        /// No signal continues a process in a frozen control group. Tries both versions of control groups, in groups of its own.
        @Test(.needs("doctor: a frozen holder", geteuid() == 0, else: "only root can make a control group"))
        func doctorSuggestsNoSignalForAFrozenHolder() throws {
            try home.claim("x.plist")
            let script = """
                exec 9<>.x.plist.lock; flock -x 9; sleep 600 >/dev/null & holder=$!
                sleep 600 >/dev/null & stopped=$!; kill -STOP $stopped; exec 9>&-
                until grep -qs '^State:.T' /proc/$stopped/status; do :; done; echo $stopped
                for groups in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/freezer; do
                    group=$groups/prefs-test-$$
                    mkdir $group 2>/dev/null || continue
                    if test -e $group/cgroup.procs && echo $holder >$group/cgroup.procs; then
                        if test -e $group/cgroup.freeze; then file=cgroup.freeze frozen=1 thawed=0
                        else file=freezer.state frozen=FROZEN thawed=THAWED; fi
                        echo $frozen >$group/$file
                        prefs doctor -f x.plist --json | tr -d '\n'; echo
                        test $stopped = 0 || kill -KILL $stopped; wait $stopped; stopped=0
                        prefs doctor -f x.plist --json | tr -d '\n'; echo
                        echo $thawed >$group/$file; echo $holder >$groups/cgroup.procs
                    fi 2>/dev/null
                    rmdir $group
                done
                kill $holder; test $stopped = 0 || kill -KILL $stopped
                """
            let lines = try home.bash(script).output.split(separator: "\n")
            if lines.count < 2 {
                return Hazard.report("doctor: a frozen holder: skipped: no control group can be made here")
            }
            for (number, line) in lines.enumerated().dropFirst() {
                let report = DoctorReport(members: try Printed(String(line)).object(), code: 0)
                let holders = report.lock?["holders"] as? [[String: Any]]
                // A stopped one beside it is continued, in the first report.
                #expect(holders?.count == (number == 1 ? 2 : 1), "\(line)")
                #expect(holders?.allSatisfy { $0["isStopped"] as? Bool == true } == true, "\(line)")
                #expect(report.commands == (number == 1 ? ["kill -CONT \(lines[0])"] : []), "\(line)")
                #expect(line.contains("because its control group is frozen"), "\(line)")
            }
        }

        /// A file system without locks, by a library that is loaded first.
        @Test(.needs("doctor: locks that fail", compiler != nil, else: "no C compiler is here"))
        func doctorTellsOfALockThatFails() throws {
            try home.claim("x.plist")
            try prefs("set", "-f", home.path("x.plist"), "A.k", "v")
            let source = "#include <errno.h>\nint flock(int file, int operation) { errno = ENOLCK; return -1; }\n"
            try Data(source.utf8).write(to: home.folder.file("locks.c"))
            let (library, compiler) = (home.path("locks.so"), try #require(Self.compiler))
            let built = try Child(
                URL(filePath: compiler), ["-shared", "-fPIC", "-o", library, home.path("locks.c")], environment: [:]
            ).wait()
            try #require(built.code == 0, "\(built.errors)")
            let printed = try home.process(["doctor", "-f", home.path("x.plist")], ["LD_PRELOAD": library])
            let reason = String(cString: strerror(ENOLCK))
            #expect(printed.output.contains("cannot be used: flock: \(reason)"), "\(printed)")
            #expect(!printed.output.contains("held by"))
        }

        private static let compiler = Child.installed("cc") ?? Child.installed("gcc")
    #endif
}
