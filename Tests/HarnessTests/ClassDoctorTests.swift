import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import PrefsTool

/// `vet` and `doctor` check a file against the class, and name the commands of its program.
@Suite struct ClassDoctorTests {
    private func findings(_ path: String, of program: Program) -> [Finding] {
        Diagnosis(path: path, of: program).findings
    }

    private let misfits: [String: Any] = [
        "AppPrefs": ["theme": "pink", "fontSize": 7, "wraps": true, "user name": 5], "Other": ["theme": 3],
    ]

    @Test func vetReportsValuesThatDoNotFitTheClass() throws {
        let home = try HarnessHome()
        let path = try home.write(misfits, to: "app.plist").path
        let vetted = VetRunner(AppPrefs.program, wantsJSON: false).run(path)
        let lines = String(decoding: vetted.output, as: UTF8.self).split(separator: "\n")
        #expect(vetted.code == 1 && lines.count == 3, "\(lines)")
        for (line, key) in zip(lines, ["fontSize", "theme", "user name"]) {
            #expect(line.hasPrefix("\(path): AppPrefs.\(key): "))
        }
        #expect(lines[0] == "\(path): AppPrefs.fontSize: must be in 8.0...72.0")
        #expect(try home.prefs("vet", path).code == 0)
    }

    @Test func vetAcceptsValuesOfTheClass() throws {
        let home = try HarnessHome()
        let path = try home.write(["AppPrefs": ["theme": "dark", "fontSize": 9]], to: "app.plist").path
        #expect(VetRunner(AppPrefs.program, wantsJSON: true).run(path).code == 0)
        #expect(findings(path, of: AppPrefs.program).isEmpty)
    }

    @Test func theTestSetIsCheckedToo() throws {
        let home = try HarnessHome()
        let path = try home.write(["PrefsTestSet": ["Integer Value": "x"]], to: "set.plist").path
        #expect(try home.prefs("vet", path).code == 1)
        #expect(try home.prefs("doctor", path).code == 1)
    }

    @Test func theCommandsAreThoseOfTheProgram() throws {
        let home = try HarnessHome()
        let path = try home.write(misfits, to: "app.plist").path
        let finding = try #require(findings(path, of: AppPrefs.program).first)
        #expect(finding.reason.hasSuffix("; `myapp prefs vet` lists 2 more"))
        // `delete` is a command of `prefs` alone.
        #expect(finding.command == nil && finding.isProblem)
        let other = Program(name: "prefs", commands: CommandSpec.all, make: AppPrefs.program.make)
        #expect(findings(path, of: other).first?.command?.contains(" delete ") == true)
    }

    @Test func aDamagedFileIsMendedByTheProgram() throws {
        let home = try HarnessHome()
        let path = home.path("app.plist")
        #expect(try home.prefs("write", path, "AppPrefs", "fontSize", "-int", "9") == Printed())
        try Data("bplist00".utf8).write(to: URL(filePath: path))
        let command = try #require(findings(path, of: AppPrefs.program).first?.command)
        #expect(command.hasSuffix(" prefs doctor --mend \(path)"))
    }
}
