import Foundation
import TestSupport
import Testing

/// A process that reaches limits: descriptors, the size of a file, room on the disk, a read-only medium. The old state
/// stays, the error names the cause, no temporary file stays, and all accesses succeed afterwards.
@Suite(.waits) final class LimitsTests: SituationSuite {
    private static let names = ".test.plist.lastgood .test.plist.lock test.plist"

    @Test func withoutDescriptors() throws {
        let folder = home.path
        let limit =
            "open: Too many open files; raise the limit of this process (ulimit -n); the stored state is unchanged"
        try run(
            "descriptors",
            [
                "open \(path)", "set 1", "open \(folder)/other.plist", "set 5", "open \(path)", "descriptors taken",
                // A read takes no descriptor if the file has not changed.
                "get => 1 ok",
                "set 2 => \(folder): \(limit)",
                "open \(folder)/other.plist => \(folder)/other.plist: \(limit)",
                // A file that was open until now is closed, which frees one descriptor.
                "descriptors taken",
                "get => nil \(folder)/other.plist: \(limit)",
                "set 2 => \(folder)/other.plist: \(limit)",
                "descriptors free",
            ],
            later: [
                "get => 5 ok", "set 6", "open \(path)", "get => 1 ok", "set 3", "get => 3 ok",
                "names \(folder) => .other.plist.lastgood .other.plist.lock \(Self.names.dropLast(10))other.plist test.plist",
            ])
    }

    private var tooLarge: String {
        "\(path): write: File too large; raise the limit of file sizes (ulimit -f); the stored state is unchanged"
    }

    @Test func aFileThatMayNotGrow() throws {
        try run(
            "size",
            [
                "open \(path)", "text 10", "size 5000", "text 4000", "length => 4000 ok",
                // The first 5,000 bytes are written, which is a real short write.
                "text 10000 => \(tooLarge)", "length => 4000 ok", "text 6000 => \(tooLarge)",
                "names \(home.path) => \(Self.names)",
            ],
            later: ["size 100000", "text 10000", "length => 10000 ok"])
    }

    /// The limit is there before the program starts, and may be 0. A write at the limit must not end the program with
    /// SIGXFSZ. The pipe is for the output, which may be a file.
    @Test(.enabled(if: Hazard.canRunUnsanitized("surroundings: file size from the start")), arguments: [0, 8])
    func aProgramStartedWithALimit(_ blocks: Int) throws {
        try run(
            "limit \(blocks)", through: ["/bin/sh", "-c", "(ulimit -f $0 && exec \"$@\") | cat", "\(blocks)"],
            [
                "open \(path)", "text 10 => \(blocks == 0 ? tooLarge : "ok")", "text 10000 => \(tooLarge)",
                "length => \(blocks == 0 ? "0 ok" : "10 ok")",
                "names \(home.path) => \(blocks == 0 ? ".test.plist.lock" : Self.names)",
            ])
    }

    /// RLIMIT_NPROC, which does not bind root.
    private let noThread =
        "cannot be watched, because no thread can start; raise the limit of processes (ulimit -u)"
        + "; changes made elsewhere are not reported"

    @Test(.enabled(if: Hazard.canRunUnsanitized("surroundings: threads"))) func withoutThreads() throws {
        chmod(home.path, 0o777)
        try run(
            "threads",
            Root.asUser(12_345) + [
                "threads none", "open \(path)", "set 1", "observe => \(noThread)", "get => 1 ok",
                "observe => \(noThread)", "set 2", "heard => 1", "set 3", "heard => 2", "get => 3 ok",
            ])
    }

    /// The handler then runs on the thread that moves the observer to another root.
    @Test(.enabled(if: Hazard.canRunUnsanitized("surroundings: threads")))
    func aFailureHandlerWithoutAThreadMayCancelItsObservation() throws {
        chmod(home.path, 0o777)
        try run(
            "cancel",
            Root.asUser(12_345) + [
                "threads none", "open \(path)", "set 1", "observe => \(noThread)", "cancel-at-error => \(noThread)",
                // The other root does not have the value. After that nothing is heard.
                "damage \(path)", "problems => 2", "root Other", "errors => 1", "heard => 1", "root ProbePrefs",
                "heard => 1",
            ])
    }

    // MARK: - Mounted, in a mount namespace of the probe's own

    /// - Parameter isReadOnly: whether the folder becomes read-only after another process has written 1 there. The
    ///   probe must not write, because the engine keeps the file that it has written open.
    private static func mounted(_ folder: String, isReadOnly: Bool = false) -> [String] {
        let write = "\"$1\" surroundings \"open $0/test.plist\" 'set 1' >/dev/null && mount -o remount,ro \"$0\""
        let script = "mount -t tmpfs -o size=64k tmpfs \"$0\" && \(isReadOnly ? write : "true") && exec \"$@\""
        return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, folder]
    }

    private static let mayMount: Bool = {
        guard Root.isHere, FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare"),
            let folder = try? TemporaryFolder()
        else { return false }
        let arguments = mounted(folder.path).dropFirst() + ["true"]
        let result = try? Child(URL(filePath: "/usr/bin/unshare"), Array(arguments), environment: [:]).wait()
        return result?.code == 0
    }()

    private static func canMount(_ name: String) -> Bool {
        Hazard.canRun("surroundings: \(name)", if: mayMount, else: "nothing can be mounted here")
    }

    @Test(.enabled(if: canMount("full disk"))) func aFullDisk() throws {
        let folder = home.path
        let message = "\(path): write: No space left on device; free some space; the stored state is unchanged"
        try run(
            "full", through: Self.mounted(folder),
            [
                "open \(path)", "set 1", "shell cat /dev/zero > \(folder)/filler 2>/dev/null; true",
                "set 2 => \(message)", "get => 1 ok", "text 5000 => \(message)",
                "names \(folder) => \(Self.names.dropLast(10))filler test.plist", "open \(path)", "get => 1 ok",
                "set 2 => \(message)",
            ],
            later: [
                "shell rm \(folder)/filler", "set 3", "get => 3 ok", "open \(path)", "get => 3 ok",
                "names \(folder) => \(Self.names)",
            ])
        // Replaced files wait for a thread that cannot start.
        try run(
            "full without threads", through: Self.mounted(folder),
            [
                "identity 12345", "threads none", "open \(path)", "set 1", "set 2", "text 70000 => \(message)", "set 3",
                "text 70000 => \(message)", "get => 3 ok",
            ])
        // Damage on a full disk: reads return the newest known state, and writes are rejected until there is room.
        let damage =
            "\(path): is neither a binary nor an XML property list; the file is unchanged, and the last known state is "
            + "read"
        try run(
            "full and damaged", through: Self.mounted(folder),
            [
                "open \(path)", "set 1", "shell printf damaged > \(path)",
                "shell cat /dev/zero > \(folder)/filler 2>/dev/null; sleep 0.6", "get => 1 \(damage)",
                "set 2 => \(message)",
                "shell test \"$(cat \(path))\" = damaged", "get => 1 \(damage)",
            ],
            later: [
                "shell rm \(folder)/filler", "shell tail -n +2 \(folder)/.test.plist.lastgood > \(path)", "get => 1 ok",
                "set 3", "get => 3 ok", "names \(folder) => \(Self.names)",
            ])
    }

    @Test(.enabled(if: canMount("read-only disk"))) func aReadOnlyDisk() throws {
        let folder = home.path
        let message = "Read-only file system; the stored state is unchanged"
        try run(
            "read-only", through: Self.mounted(folder, isReadOnly: true),
            [
                "open \(path)", "get => 1 ok", "set 2 => \(path): open: \(message)", "get => 1 ok", "open \(path)",
                "get => 1 ok", "open \(folder)/new.plist", "set 2 => \(folder)/.new.plist.lock: open: \(message)",
                "open \(folder)/deep/new.plist", "set 2 => \(folder)/deep: mkdir: \(message)",
                "names \(folder) => \(Self.names)",
            ],
            later: [
                "shell mount -o remount,rw \(folder)", "set 3", "get => 3 ok", "open \(path)", "get => 1 ok", "set 3",
                "get => 3 ok",
            ])
    }

    /// On an overlay, an open file of the lower layer stays unchanged after another file has taken its name. In a
    /// container, the files of the image are in the lower layer.
    @Test(.enabled(if: canMount("overlay"))) func aFileOfALowerLayerThatIsReplaced() throws {
        let folder = home.path
        for name in ["low", "up", "work", "all"] { mkdir("\(folder)/\(name)", 0o755) }
        try writePropertyList(["ProbePrefs": ["count": 1]], to: home.file("low/test.plist"))
        try writePropertyList(["ProbePrefs": ["count": 2]], to: home.file("new.plist"))
        let file = "\(folder)/all/test.plist"
        // Uses a tmpfs, because an overlay cannot be on an overlay.
        let script =
            "cd \"$0\" && mount -t tmpfs tmpfs work && mkdir work/up work/work && mount -t overlay overlay "
            + "-o lowerdir=low,upperdir=work/up,workdir=work/work all && exec \"$@\""
        let mount = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, folder]
        try run(
            "overlay", through: mount,
            [
                "open \(file)", "get => 1 ok", "shell cp \(folder)/new.plist \(folder)/all/new.plist",
                "shell mv \(folder)/all/new.plist \(file)", "get => 2 ok", "set 3", "get => 3 ok",
            ])
        try run(
            "removed", through: mount, ["open \(file)", "get => 1 ok", "shell rm \(file); sleep 0.4", "get => nil ok"])
    }
}
