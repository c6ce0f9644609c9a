import EngineSupport
import Foundation
import TestSupport
import Testing

/// A rule over two values that four processes change at once.
@Suite(.waits) final class RuleProcessTests: ProbeSuite {
    /// Each success makes the gap smaller by one, so there are exactly as many as it was wide, whichever process comes first.
    @Test func processesNeverCrossTheValues() throws {
        try writeDomain(["GapPrefs": ["low": 3, "high": 63]], as: .binary)
        let children = try (0..<4).map { _ in try Child("Probe", ["narrow", "40"], home: home) }
        let outputs = try children.map { try $0.wait().output }
        let counts = outputs.compactMap { Int($0.dropLast()) }
        #expect(counts.count == 4 && counts.reduce(0, +) == 60, "\(outputs)")
        let stored = try #require(try propertyList(at: domain)["GapPrefs"] as? [String: Int])
        #expect(stored["low"] == stored["high"] && stored.count == 2, "\(stored)")
    }
}
