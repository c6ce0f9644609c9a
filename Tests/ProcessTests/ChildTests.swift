import Foundation
import TestSupport
import Testing

/// The behavior that other tests need when they start processes.
@Suite(.waits) struct ChildTests {
    @Test func whatItHasForkedIsKilledWithIt() throws {
        let script = "tail -f /dev/null & tail -f /dev/null"
        let child = try Child(URL(filePath: "/bin/sh"), ["-c", script], environment: [:])
        #expect(throws: ChildIsOverdue.self) { try child.wait(limit: .milliseconds(100)) }
    }

    /// A pipe or a lock that another test has open would stay open with it.
    @Test(.enabled(if: Hazard.canRun("children", if: SpawnedProcess.closesOthers, else: "Glibc is older than 2.34")))
    func aChildHasItsStandardStreamsAlone() throws {
        let descriptor = dup(0)
        defer { close(descriptor) }
        let result = try Child(
            URL(filePath: "/bin/sh"), ["-c", "[ -e /dev/fd/0 ] && ! [ -e /dev/fd/\(descriptor) ]"], environment: [:]
        ).wait()
        #expect(result.code == 0)
    }

    /// A thread of the tests may ignore or block it.
    @Test(arguments: [SIGINT, SIGTERM, SIGPIPE]) func signalsHaveTheirDefaults(_ signal: Int32) throws {
        let result = try Child(URL(filePath: "/bin/sh"), ["-c", "kill -\(signal) $$"], environment: [:]).wait()
        #expect(result.wasKilled && result.code == signal)
    }
}
