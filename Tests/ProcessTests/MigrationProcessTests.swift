import Foundation
import TestSupport
import Testing

/// A root of a former version that four processes find at once.
@Suite final class MigrationProcessTests: ProbeSuite {
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
}
