#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import PrefsFileEngine

    /// Whether a process is frozen, by the kernel's files as a folder of the test has them.
    @Suite final class ControlGroupTests: FolderSuite {
        private static let both = """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            30 22 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate
            34 22 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
            35 22 0:31 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
            """
        private static let second = "30 22 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw"

        /// The file's path below the folder of the mounts.
        private static let rows: [(mounts: String, groups: String, file: String, content: String, isFrozen: Bool)] = [
            // The second version.
            (second, "0::/a/b", "a/b/cgroup.events", "populated 1\nfrozen 1\n", true),
            (second, "0::/a/b", "a/b/cgroup.events", "populated 1\nfrozen 0\n", false),
            (second, "0::/a/b", "a/b/cgroup.freeze", "1\n", true), (second, "0::/a/b", "a/cgroup.freeze", "1\n", true),
            (second, "0::/a/b", "a/b/cgroup.freeze", "0\n", false),
            (second, "0::/a/b", "a/c/cgroup.freeze", "1\n", false),
            (second, "0::/a/b", "a/b/c/cgroup.freeze", "1\n", false), (second, "0::/", "a/cgroup.freeze", "1\n", false),
            (second, "0::/a:x/b", "a:x/b/cgroup.freeze", "1\n", true),
            // Both versions, each with its groups.
            (both, "3:freezer:/a\n0::/b", "unified/b/cgroup.freeze", "1\n", true),
            (both, "3:freezer:/a\n0::/b", "unified/a/cgroup.freeze", "1\n", false),
            (both, "3:freezer:/a\n0::/b", "freezer/a/freezer.state", "FROZEN\n", true),
            (both, "3:freezer:/a\n0::/b", "freezer/a/freezer.state", "FREEZING\n", true),
            (both, "3:freezer:/a\n0::/b", "freezer/a/freezer.state", "THAWED\n", false),
            (both, "3:freezer:/a\n0::/b", "freezer/b/freezer.state", "FROZEN\n", false),
            (both, "3:freezer:/a\n4:memory:/c", "freezer/c/freezer.state", "FROZEN\n", false),
            (both, "3:freezer:/a\n4:memory:/c", "memory/c/freezer.state", "FROZEN\n", false),
            (
                "35 22 0:31 / /sys/fs/cgroup rw - cgroup cgroup rw,cpu,freezer", "3:cpu,freezer:/a", "a/freezer.state",
                "FROZEN\n", true
            ),
            // A container sees a part of the groups.
            ("30 22 0:26 /d /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "0::/d/a", "a/cgroup.freeze", "1\n", true),
            ("30 22 0:26 /d /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "0::/e/a", "a/cgroup.freeze", "1\n", false),
            (second, "0::/../a", "a/cgroup.freeze", "1\n", false),
            (second, "0::/../a", "../a/cgroup.freeze", "1\n", false),
            // Files that cannot be read, or have another form.
            ("", "0::/a", "a/cgroup.freeze", "1\n", false), (second, "", "a/cgroup.freeze", "1\n", false),
            ("30 22 0:26 / /sys/fs/cgroup rw cgroup2", "0:/a", "a/cgroup.freeze", "1\n", false),
        ]

        private func write(_ text: String, to path: String) throws {
            let file = folder.file(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        @Test(arguments: rows) func aProcessIsFrozen(
            _ mounts: String, _ groups: String, _ file: String, _ content: String, _ isFrozen: Bool
        ) throws {
            try write(mounts + "\n", to: "proc/self/mountinfo")
            try write(groups + "\n", to: "proc/7/cgroup")
            try write(content, to: "sys/fs/cgroup/" + file)
            #expect(ControlGroup.isFrozen(7, root: folder.path) == isFrozen)
            #expect(!ControlGroup.isFrozen(8, root: folder.path))
        }

        @Test func theProcessOfTheTestsIsNotFrozen() {
            #expect(!ControlGroup.isFrozen(Int(getpid())))
        }

        @Test func aFrozenHolderIsCalledStopped() {
            let holders = [
                LockHolder(pid: 1, name: "a", isStopped: false, isFrozen: true, isOwn: true),
                LockHolder(pid: 2, name: "b", isStopped: true, isOwn: true),
                LockHolder(pid: 3, name: "c", isStopped: false, isOwn: true),
            ]
            #expect(holders.map(\.isStopped) == [true, true, false])
            let text =
                "1 (a), which is stopped because its control group is frozen, and by 2 (b), which is stopped, and by 3 (c)"
            #expect(LockHolder.text(of: holders) == "held by process \(text)")
        }
    }
#endif
