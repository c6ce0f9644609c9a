import Foundation
import TestSupport
import Testing

/// A program that kept its preferences in `UserDefaults` gets a new version with a flat store, and keeps them.
@Suite final class AdoptionTests: ProbeSuite {
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
