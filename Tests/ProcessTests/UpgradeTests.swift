import Foundation
import TestSupport
import Testing

/// Former versions of a program: what they have stored is found, and those that still run lose nothing.
@Suite(.waits) final class UpgradeTests: ProbeSuite {
    /// Two versions run against one file at the same time, in both directions.
    @Test(arguments: [true, false]) func bothVersionsWriteAtOnce(newStartsFirst: Bool) throws {
        let turns = 100
        let first = try Child("Probe", ["upgrade", newStartsFirst ? "new" : "old", "\(turns)"], home: home)
        let second = try Child("Probe", ["upgrade", newStartsFirst ? "old" : "new", "\(turns)"], home: home)
        for child in [first, second] {
            let result = try child.wait()
            #expect(result.output == "\(turns) \(turns)\n", "\(result.errors)")
        }
        let root = try #require(try propertyList(at: domain)["EditorPrefs"] as? [String: Any])
        #expect(root["turns"] as? Int == turns && root["newTurns"] as? Int == turns)
        let window: NSDictionary = ["width": turns, "height": turns, "title": "untitled"]
        #expect(root["window"] as? NSDictionary == window)
        #expect(root["windows"] as? NSDictionary == ["main": window])
    }

    /// A root of a former version that four processes find at once.
    @Test func aMigrationAppliesOnceWhicheverProcessComesFirst() throws {
        try writeDomain(["MigratingPrefs": ["amount": 5, "kept": 8]], as: .binary)
        let children = try (0..<4).map { _ in try Child("Probe", ["migrate", "25"], home: home) }
        for child in children {
            let result = try child.wait()
            #expect(result.output == String(repeating: "15 15 ok\n", count: 25), "\(result.errors)")
        }
        #expect(
            try propertyList(at: domain)["MigratingPrefs"] as? [String: Int]
                == ["number": 15, "turns": 100, "kept": 8, "PersistentPreferences version": 1])
    }

    /// A program that kept its preferences in `UserDefaults` gets a new version with a flat store, and keeps them.
    @Test func anOldProgramsDomainIsAdopted() throws {
        let old = try run("RawDefaults", ["app", "probe.adopted", "save"])
        #expect(old == ["0.25 7 true", "dark [\"a\", \"b\"]", "1,2,3", "1000.0", "5 1"])
        #expect(
            try run("Probe", ["adopt"]) == [
                "0.25 7 true dark [\"a\", \"b\"] [1, 2, 3]", "1000.0 5 true 8", "0.75",
            ])
        // The old program still runs beside the new one, and reads the values that the new one has stored.
        let again = try run("RawDefaults", ["app", "probe.adopted", "show"])
        #expect(again == ["0.75 8 false", "light [\"a\", \"b\", \"c\"]", "1,2,3", "1000.0", "5 1"])
    }

    private func run(_ program: String, _ arguments: [String]) throws -> [String] {
        let result = try Child(program, arguments, home: home).wait()
        #expect(result.code == 0)
        return result.output.split(separator: "\n").map(String.init)
    }
}
