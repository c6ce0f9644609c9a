#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Another process has a lease on a file, as file servers do. An access waits until that process gives way.
    @Suite(.waits) final class LeaseTests: SituationSuite {
        /// Takes a lease on a file, runs a program, and gives the lease up when the kernel asks for it. Fails unless the
        /// kernel has asked.
        private static let holder = """
            import fcntl, os, signal, subprocess, sys
            file = os.open(sys.argv[1], os.O_RDWR)
            asked = []
            def give_way(*_):
                asked.append(True)
                fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            signal.signal(signal.SIGIO, give_way)
            # The threads that start processes block signals.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            sys.exit(subprocess.run(sys.argv[2:]).returncode or not asked)
            """

        @Test(.enabled(if: Tool.python.isThere), arguments: ["test.plist", ".test.plist.lock", ".test.plist.lastgood"])
        func anAccessWaitsForALeaseToEnd(_ name: String) throws {
            try run("before the lease", ["open \(path)", "set 1"])
            try run(
                "lease of \(name)",
                through: ["/usr/bin/python3", "-c", Self.holder, "\(home.path)/\(name)"],
                ["open \(path)", "get => 1 ok", "set 2", "get => 2 ok"])
        }
    }
#endif
