#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// `prefs doctor` calls a lock held only if another process holds it, and names no innocent process.
    @Suite struct HarnessDoctorLockTests {
        private static func can(_ name: String, _ options: String) -> Bool {
            let words = ["--mount", "--propagation", "private"] + options.split(separator: " ").map(String.init)
            let result = try? Child(URL(filePath: "/usr/bin/unshare"), words + ["true"], environment: [:]).wait()
            return Hazard.canRun(
                "doctor: \(name)", if: geteuid() == 0 && result?.code == 0, else: "no namespaces can be made here")
        }

        /// Runs a script in namespaces of its own. `$0` is the home folder and `$1` is `prefs`.
        private func run(_ script: String, _ home: HarnessHome, _ options: [String] = []) throws -> Printed {
            let words = ["--mount"] + options + ["/bin/sh", "-ec", script, home.folder.path]
            return Printed(
                try Child(
                    URL(filePath: "/usr/bin/unshare"), words + [Child.executable("prefs").path],
                    environment: ["HOME": home.folder.path]
                ).wait())
        }

        /// On an overlay over two file systems, `/proc/locks` has another device than `stat`.
        @Test(.enabled(if: can("holders on an overlay", ""))) func doctorNamesTheHolderOnAnOverlay() throws {
            let home = try HarnessHome()
            let script = """
                cd "$0"; mkdir low all work; mount -t tmpfs tmpfs work; mkdir work/up work/work
                mount -t overlay overlay -o lowerdir=low,upperdir=work/up,workdir=work/work all
                "$1" set -f all/x.plist A.k v
                exec 9<>all/.x.plist.lock; flock -x 9
                "$1" doctor -f all/x.plist --json | tr -d ' \\n' | grep -o '"holders":\\[[^]]*'
                echo "holder $$"
                """
            let printed = try run(script, home)
            let own = try #require(printed.output.firstMatch(of: /holder ([0-9]+)\n/)).1
            #expect(printed.output.contains("\"pid\":\(own)"), "\(printed)")
        }

        /// The process that took the lock has ended, and its number belongs to a process without the lock.
        @Test(.enabled(if: can("a number of a process used again", "--pid --fork --mount-proc")))
        func doctorNamesNoProcessWithTheNumberOfTheFormerHolder() throws {
            let home = try HarnessHome()
            let script = """
                cd "$0"; "$1" set -f x.plist A.k v
                exec 9<>.x.plist.lock; flock -x 9
                taker=$(awk '$2 == "FLOCK" && $5 != 0 { print $5 }' /proc/locks | tail -1)
                echo $((taker - 1)) >/proc/sys/kernel/ns_last_pid; sleep 600 9>&- & innocent=$!
                test $innocent = $taker
                "$1" doctor -f x.plist --json | tr -d ' \\n' | grep -o '"holders":\\[[^]]*'
                kill $innocent
                """
            let printed = try run(script, home, ["--pid", "--fork", "--mount-proc"])
            // The shell is the first process of its namespace.
            #expect(printed.output.contains("\"pid\":1,") || printed.output.contains("\"pid\":1}"), "\(printed)")
            #expect(!printed.output.contains("\"name\":\"sleep\""), "\(printed)")
        }

        /// A file system without locks, by a library that is loaded first.
        @Test(
            .enabled(if: Hazard.canRun("doctor: locks that fail", if: compiler != nil, else: "no C compiler is here")))
        func doctorTellsOfALockThatFails() throws {
            let home = try HarnessHome()
            try home.prefs("set", "-f", home.path("x.plist"), "A.k", "v")
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

        private static let compiler = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].first { access($0, X_OK) == 0 }
    }
#endif
