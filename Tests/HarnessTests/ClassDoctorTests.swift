import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import PrefsTool

/// `doctor` checks a file against the class, and names the commands of its program.
@Suite final class ClassDoctorTests: HarnessSuite {
    private func findings(_ path: String, of program: Program) throws -> [Finding] {
        let prefs = program.make(nil, try Target.file(path).store(of: program))
        return Diagnosis(path: path, of: program, prefs: prefs).findings
    }

    private let misfits: [String: Any] = [
        "AppPrefs": ["theme": "pink", "fontSize": 7, "wraps": true, "user name": 5], "Other": ["theme": 3],
    ]

    @Test func valuesThatDoNotFitTheClassAreReported() throws {
        let path = try home.write(misfits, to: "app.plist").path
        let printed = try CommandRun(environment: ["HOME": home.folder.path]).run(
            ["doctor", "-f", path], of: AppPrefs.program)
        let lines = printed.output.split(separator: "\n").filter { $0.hasPrefix("problem: ") }
        #expect(printed.code == 1 && lines.count == 3, "\(lines)")
        for (line, key) in zip(lines, ["fontSize", "theme", "user name"]) {
            #expect(line.hasPrefix("problem: AppPrefs.\(key): "))
        }
        #expect(lines[0] == "problem: AppPrefs.fontSize: must be in 8.0...72.0")
        #expect(try prefs("doctor", "-f", path).code == 0)
    }

    @Test func valuesOfTheClassAreAccepted() throws {
        let path = try home.write(["AppPrefs": ["theme": "dark", "fontSize": 9]], to: "app.plist").path
        #expect(try findings(path, of: AppPrefs.program).isEmpty)
    }

    @Test func theCommandsAreThoseOfTheProgram() throws {
        let path = try home.write(misfits, to: "app.plist").path
        let findings = try findings(path, of: AppPrefs.program)
        #expect(findings.count == 3 && findings.allSatisfy(\.isProblem))
        #expect(findings[0].command?.hasSuffix(" prefs unset --force -f \(path) AppPrefs.fontSize") == true)
        // The first command keeps a copy.
        #expect(findings.map { $0.command?.hasPrefix("cp -p ") } == [true, false, false])
    }

    @Test func aDamagedFileIsMendedByTheProgram() throws {
        let path = home.path("app.plist")
        try home.claim("app.plist")
        #expect(try prefs("set", "-f", path, "AppPrefs.fontSize", "9", "-t", "integer") == Printed())
        try Data("bplist00".utf8).write(to: URL(filePath: path))
        let command = try #require(try findings(path, of: AppPrefs.program).first?.command)
        #expect(command.hasSuffix(" prefs doctor --mend -f \(path)"))
    }
}
