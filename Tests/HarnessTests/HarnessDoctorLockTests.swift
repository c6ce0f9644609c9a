#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// `prefs doctor` calls a lock held only if another process holds it, and names no innocent process.
    @Suite(.waits) final class HarnessDoctorLockTests: HarnessSuite {
        /// Runs a script in a mount namespace of its own. `$0` is the home folder and `$1` is `prefs`.
        private static func run(_ script: String, _ home: HarnessHome) throws -> Printed {
            let words = ["--mount", "/bin/sh", "-ec", script, home.folder.path, try Child.executable("prefs").path]
            return Printed(
                try Child(URL(filePath: "/usr/bin/unshare"), words, environment: ["HOME": home.folder.path]).wait())
        }

        private static func canRun(_ name: String, if condition: Bool = true) -> Bool {
            let canMount = condition && (try? run("mount -t tmpfs tmpfs \"$0\"", HarnessHome()).code) == 0
            return Hazard.canRun("doctor: \(name)", if: canMount, else: "needs root and namespaces")
        }

        /// On an overlay over two file systems, `/proc/locks` has another device than `stat`.
        @Test(.enabled(if: canRun("holders on an overlay"))) func doctorNamesTheHolderOnAnOverlay() throws {
            let script = """
                cd "$0"; mkdir low all work; mount -t tmpfs tmpfs work; mkdir work/up work/work
                mount -t overlay overlay -o lowerdir=low,upperdir=work/up,workdir=work/work all
                "$1" set -f all/x.plist A.k v
                exec 9<>all/.x.plist.lock; flock -x 9
                "$1" doctor -f all/x.plist --json | tr -d ' \\n' | grep -o '"holders":\\[[^]]*'
                echo "holder $$"
                """
            let printed = try Self.run(script, home)
            let own = try #require(printed.output.firstMatch(of: /holder ([0-9]+)\n/)).1
            #expect(printed.output.contains("\"pid\":\(own)"), "\(printed)")
        }

        /// Only the first namespace of processes lists a lock whose taker has ended.
        private static let isFirstNamespace =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) == "pid:[4026531836]"

        /// The process that took the lock has ended, and its number belongs to a process without the lock.
        @Test(.enabled(if: canRun("a number of a process used again", if: isFirstNamespace)))
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
                "$1" doctor -f x.plist --json | tr -d ' \\n' | grep -o '"holders":\\[[^]]*'
                kill $innocent
                """
            let printed = try Self.run(script, home)
            let numbers = try #require(
                printed.output.firstMatch(of: /taker ([0-9]+) innocent ([0-9]+) holder ([0-9]+)\n/), "\(printed)")
            guard numbers.1 == numbers.2 else {
                return Hazard.report("doctor: a number of a process used again: another process has got it")
            }
            #expect(printed.output.contains("\"pid\":\(numbers.3)"), "\(printed)")
            #expect(!printed.output.contains("\"pid\":\(numbers.1)"), "\(printed)")
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
    }
#endif
