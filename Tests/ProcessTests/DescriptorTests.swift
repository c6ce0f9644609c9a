import Foundation
import TestSupport
import Testing

/// Programs that close their own descriptors and the package's, and a program that exits inside an update.
@Suite(.waits) final class DescriptorTests: ProbeSuite {
    /// The closed streams: `prog <&- >&- 2>&-` in a shell.
    @Test(arguments: [("<&- >&- 2>&-", []), (">&- 2>&-", [0]), ("2>&-", [0, 1]), ("<&-", [1, 2])])
    func whatAProgramPrintsNeverGoesIntoItsFile(_ closed: String, _ open: [Int32]) throws {
        let script = "exec \"$0\" \"$@\" \(closed)"
        let arguments = ["-c", script, try Child.executable("Probe").path, "closed-streams", path, "200"]
        let result = try Child(URL(filePath: "/bin/sh"), arguments, environment: ["HOME": home.path]).wait()
        #expect(result.code == 0)
        let report = try String(contentsOf: home.file("test.plist.report"), encoding: .utf8)
        #expect(report == " \(open)")
        #expect(try home.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist", "test.plist.report"])
        #expect(try values(in: file)["count"] as? Int == 200)
    }

    @Test func descriptorsThatAProgramHasReusedAreItsOwn() throws {
        _ = try probe("surroundings", "open \(path)", "set 1")
        let error = "the program has closed the descriptor of its lock during the update; the stored state is unchanged"
        try expect(
            """
            write: 2 ok
            attributes: its own
            kept: read-only
            update: \(path): \(error)
            read: 2 ok
            own: intact

            """, of: "closed-descriptors", path)
        #expect(try values(in: file)["count"] as? Int == 2)
    }

    @Test func aProgramThatClosesAllDescriptorsWritesOn() throws {
        try expect("done\n", of: "closed-often", path)
        #expect(try home.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// Its update is never committed, so a write that took part in it would be lost.
    @Test func aHandlerOfAnExitInsideAnUpdateIsToldThatItsWriteIsNotStored() throws {
        let error = "the program has called exit inside an update; the stored state is unchanged"
        try expect("text: \(error)\ncount: \(error)\n", of: "exit-in-update", path)
        let values = try values(in: file)
        #expect(values["count"] as? Int == 1 && values["text"] == nil)
    }
}
