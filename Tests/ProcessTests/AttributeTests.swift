import Foundation
import TestSupport
import Testing

/// Extended attributes of a file, set and read by Python. Each write keeps them.
@Suite(.waits, .enabled(if: Tool.python.isThere)) final class AttributeTests: SituationSuite {
    private let folder: TemporaryFolder

    override init() throws {
        folder = try TemporaryFolder(onDisk: true)
        try super.init()
    }

    private func python(_ script: String) throws -> String {
        try Tool.python.run(["-c", "import os, sys\npath = sys.argv[1]\n" + script, folder.file().path])
            .trimmingCharacters(in: .newlines)
    }

    private func write(_ steps: [Step]) throws {
        try run("attributes", ["open \(folder.file().path)"] + steps)
    }

    /// Whether the folder's file system supports attributes.
    private func hasAttributes() throws -> Bool {
        try writePropertyList(["ProbePrefs": ["count": 1]], to: folder.file())
        let answer = try python(
            "try: os.setxattr(path, 'user.probe', b''); os.removexattr(path, 'user.probe'); print('yes')\n"
                + "except OSError: print('no')")
        return Hazard.canRun("surroundings: attributes", if: answer == "yes", else: "no attributes in this folder")
    }

    @Test func everyAttributeIsKept() throws {
        guard try hasAttributes() else { return }
        let set = """
            os.setxattr(path, 'user.comment', b'by hand')
            os.setxattr(path, 'user.empty', b'')
            os.setxattr(path, 'user.bytes', bytes(range(256)) * 8)
            """
        let show = "print([(name, os.getxattr(path, name).hex()) for name in sorted(os.listxattr(path))])"
        let before = try python(set + "\n" + show)
        try write(["set 2", "set 3", "get => 3 ok"])
        #expect(try python(show) == before)
        #expect(before.contains("user.bytes") && before.contains("user.comment"))
        // A removed attribute does not come back.
        _ = try python("os.removexattr(path, 'user.bytes')")
        try write(["set 4"])
        #expect(try python("print(sorted(os.listxattr(path)))") == "['user.comment', 'user.empty']")
    }

    /// A write under a umask that removes the owner's access keeps the attributes.
    @Test(
        .enabled(if: Root.canRun("attributes under a umask"), "root may write everything"), arguments: ["777", "277"])
    func everyAttributeIsKeptUnderAUmask(_ umask: String) throws {
        guard try hasAttributes() else { return }
        _ = try python("os.setxattr(path, 'user.comment', b'by hand')")
        chown(folder.path, 12_345, 12_345)
        chown(folder.file().path, 12_345, 12_345)
        try run("umask", Root.asUser(12_345) + ["umask \(umask)", "open \(folder.file().path)", "set 2"])
        #expect(try python("print(os.getxattr(path, 'user.comment'))") == "b'by hand'")
    }

    /// An attribute that the writer may not set: the write is rejected with its name, and the file stays.
    @Test(.enabled(if: Root.canRun("attributes of root"), "only root can set them"))
    func anAttributeThatCannotBeKeptEndsTheWrite() throws {
        guard try hasAttributes() else { return }
        chown(folder.path, 12_345, 12_345)
        chown(folder.file().path, 12_345, 12_345)
        // cap_net_raw, which no program needs of a property list: only root may give it.
        let value = "0100000200200000000000000000000000000000"
        _ = try python("os.setxattr(path, 'security.capability', bytes.fromhex('\(value)'))")
        let message =
            "\(folder.file().path): its extended attribute security.capability cannot be kept: Operation not permitted; "
            + "the stored state is unchanged"
        try write(Root.asUser(12_345) + ["open \(folder.file().path)", "set 2 => \(message)", "get => 1 ok"])
        #expect(try python("print(os.getxattr(path, 'security.capability').hex())") == value)
        #expect(try folder.names() == [".test.plist.lock", "test.plist"])
    }
}
