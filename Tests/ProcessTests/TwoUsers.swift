import Foundation
import TestSupport
import Testing

/// Two users who need no account, and a folder in which one plants something in the way of the other. Root is the
/// third.
struct TwoUsers {
    static let victim: uid_t = 12_345
    static let attacker: uid_t = 22_222

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(onDisk: true)
        chmod(folder.path, 0o755)
    }

    func make(_ name: String, owner: uid_t, mode: mode_t) -> String {
        let path = folder.path + "/" + name
        mkdir(path, 0o700)
        chown(path, owner, owner)
        chmod(path, mode)
        return path
    }

    func write(_ path: String, _ list: [String: Any], owner: uid_t, mode: mode_t) throws {
        try writePropertyList(list, to: URL(filePath: path))
        chown(path, owner, owner)
        chmod(path, mode)
    }

    /// Steps that make the probe the victim.
    static let asVictim = Root.asUser(Int(victim))
    /// Steps that make the probe the attacker.
    static let asAttacker = Root.asUser(Int(attacker))

    func link(_ path: String, to target: String, owner: uid_t) {
        #expect(symlink(target, path) == 0)
        lchown(path, owner, owner)
    }

    /// The inode, mode, owner and bytes of a file, and the names in its folder: they show whether an access changed
    /// anything.
    struct Trace: Equatable {
        let inode: ino_t
        let mode: mode_t
        let owner: uid_t
        let bytes: Data?
        let names: [String]

        init(_ path: String) throws {
            var status = stat()
            #expect(lstat(path, &status) == 0)
            (inode, mode, owner) = (status.st_ino, status.st_mode, status.st_uid)
            bytes = try? Data(contentsOf: URL(filePath: path))
            let folder = URL(filePath: path).deletingLastPathComponent().path
            names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        }
    }

    /// The `errno` of an `open` by another user; 0 if it succeeds.
    func open(_ path: String, as user: uid_t) -> Int32 {
        let script =
            "import os,sys\nos.setgroups([])\nos.setgid(\(user))\nos.setuid(\(user))\n"
            + "try: os.open(sys.argv[1], os.O_RDONLY); print(0)\nexcept OSError as e: print(e.errno)"
        let output = try? Tool.python.run(["-c", script, path])
        return output.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? -1
    }
}
