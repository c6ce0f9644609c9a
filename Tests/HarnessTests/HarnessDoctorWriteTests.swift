import Foundation
import Testing
import TestSupport

/// The doctor never says that nothing needs mending if a write would be rejected.
@Suite final class HarnessDoctorWriteTests: HarnessSuite {
    private static let isRoot = geteuid() == 0

    private func run(_ words: [String]) throws -> Int32 {
        try Child(URL(filePath: words[0]), Array(words.dropFirst()), environment: [:]).wait().code
    }

    /// Each flag, what the doctor says, and that a write is rejected.
    @Test(
        .enabled(if: Hazard.canRun("immutable files", if: isRoot, else: "only root can make them")),
        arguments: [false, true])
    func anImmutableFlagIsNamed(isFolder: Bool) throws {
        let chattr = "/usr/bin/chattr"
        #expect(mkdir(home.path("f"), 0o700) == 0)
        try home.write("{\"k\": 1}", to: "f/a.json")
        let (path, flagged) = (home.path("f/a.json"), home.path(isFolder ? "f" : "f/a.json"))
        guard FileManager.default.isExecutableFile(atPath: chattr), try run([chattr, "+i", flagged]) == 0 else {
            return Hazard.report("immutable files: skipped, because this file system or machine has no flag")
        }
        defer { #expect(throws: Never.self) { try run([chattr, "-i", flagged]) } }
        let report = try home.doctor(path)
        let word = isFolder ? "folder" : "file"
        #expect(report.code == 1)
        #expect(
            report.findings.map { $0["reason"] as? String } == [
                "the \(word) \(flagged) has the immutable flag: nothing can be stored"
            ])
        #expect(report.findings.map { $0["command"] as? String } == ["chattr -i \(flagged)"])
        #expect(try home.prefs("set", "-f", path, "k", "2").code == 1)
    }

    /// In a user namespace that has no number for the owner, as in a container without root.
    @Test(.enabled(if: Hazard.canRun("unmapped owners", if: isRoot, else: "only root can make them")))
    func anOwnerWithoutANumberIsNamed() throws {
        try home.write("{\"k\": 1}", to: "a.json")
        let path = home.path("a.json")
        #expect(chown(path, 12_345, 12_345) == 0 && chmod(path, 0o666) == 0)
        let prefs = try Child.executable("prefs").path
        func inNamespace(_ words: String...) throws -> (code: Int32, output: String) {
            let result = try Child(
                URL(filePath: "/usr/bin/unshare"), ["-Ur", prefs] + words,
                environment: ["HOME": home.path("")]
            ).wait()
            return (result.code, result.output)
        }
        guard try inNamespace("get", "-f", path, "k").code == 0 else {
            return Hazard.report("unmapped owners: skipped, because this machine has no user namespaces")
        }
        let doctor = try inNamespace("doctor", "-f", path)
        #expect(doctor.code == 1 && !doctor.output.contains("nothing needs mending"))
        #expect(doctor.output.contains("belongs to another user; a write would change its owner"), "\(doctor.output)")
        #expect(try inNamespace("set", "-f", path, "k", "2").code == 1)
    }

    @Test func namesThatAWriteSplitsAreANote() throws {
        try home.write("{\"k\": 1}", to: "a.json")
        #expect(link(home.path("a.json"), home.path("b.json")) == 0)
        let report = try home.doctor(home.path("a.json"))
        #expect(report.code == 0)
        #expect(
            report.findings.map { $0["reason"] as? String } == [
                "the file has 2 names (hard links): a write makes a file of its own under this name, and the others keep "
                    + "the former state"
            ])
    }
}
