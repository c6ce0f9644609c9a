import Foundation
import TestSupport
import Testing

/// Programs that close their own descriptors and the package's, and a program that exits inside an update.
@Suite struct DescriptorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file().path }

    /// The closed streams: `prog <&- >&- 2>&-` in a shell.
    @Test(arguments: [("<&- >&- 2>&-", []), (">&- 2>&-", [0]), ("2>&-", [0, 1]), ("<&-", [1, 2])])
    func whatAProgramPrintsNeverGoesIntoItsFile(_ closed: String, _ open: [Int32]) throws {
        let script = "exec \"$0\" \"$@\" \(closed)"
        let arguments = ["-c", script, try Child.executable("Probe").path, "closed-streams", path, "200"]
        let result = try Child(URL(filePath: "/bin/sh"), arguments, environment: ["HOME": folder.path]).wait()
        #expect(result.code == 0)
        let report = try String(contentsOf: folder.file("test.plist.report"), encoding: .utf8)
        #expect(report == " \(open)")
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist", "test.plist.report"])
        let root = try propertyList(at: folder.file())["ProbePrefs"] as? [String: Any]
        #expect(root?["count"] as? Int == 200)
    }

    @Test func descriptorsThatAProgramHasReusedAreItsOwn() throws {
        _ = try Child("Probe", ["surroundings", "open \(path)", "set 1"], home: folder).wait()
        let result = try Child("Probe", ["closed-descriptors", path], home: folder).wait()
        #expect(
            result.output == """
                write: 2 ok
                attributes: its own
                kept: read-only
                update: \(path): the program has closed the descriptor of its lock during the update; the stored state is unchanged
                read: 2 ok
                own: intact

                """)
        #expect(result.code == 0, "\(result.errors)")
        let root = try propertyList(at: folder.file())["ProbePrefs"] as? [String: Any]
        #expect(root?["count"] as? Int == 2)
    }

    @Test func aProgramThatClosesAllDescriptorsWritesOn() throws {
        let result = try Child("Probe", ["closed-often", path], home: folder).wait()
        #expect(result.output == "done\n" && result.code == 0, "\(result.errors)")
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// Its update is never committed, so a write that took part in it would be lost.
    @Test func aHandlerOfAnExitInsideAnUpdateIsToldThatItsWriteIsNotStored() throws {
        let result = try Child("Probe", ["exit-in-update", path], home: folder).wait()
        let error = "the program has called exit inside an update; the stored state is unchanged"
        #expect(result.output == "text: \(error)\ncount: \(error)\n")
        #expect(result.code == 0, "\(result.errors)")
        let root = try propertyList(at: folder.file())["ProbePrefs"] as? [String: Any]
        #expect(root?["count"] as? Int == 1 && root?["text"] == nil)
    }
}
