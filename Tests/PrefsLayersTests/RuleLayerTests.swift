import Foundation
import PrefsJSON
import PrefsLayers
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

private final class RangePrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var low = 1
    @Pref var high = 9
    @Pref var name = ""

    override class var rules: [PrefsRule] {
        [PrefsRule { (prefs: RangePrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }]
    }

    static let violated = PrefsError.ruleViolated(["low must be at most high"])
}

/// Rules judge what a program reads: the values of layers, too.
@Suite(.waits) struct RuleLayerTests {
    private let folder = TemporaryFolder.fresh
    private var base: URL { folder.file("base.json") }
    private var below: URL { folder.file("below.json") }

    private func prefs(_ variables: [String: String] = [:], below more: [String: Any] = [:]) -> RangePrefs {
        RangePrefs(
            store: .layered(
                PrefsStore.json(url: base), above: [.variables(variables)], below: [.file(below), .values(more)]))
    }

    private func write(_ text: String, to url: URL) throws { try Data(text.utf8).write(to: url) }

    @Test func aLayerAboveCounts() throws {
        #expect(prefs(["APP_HIGH": "3"]).$low.set(4) == RangePrefs.violated)
        #expect(prefs(["APP_HIGH": "30"]).$low.set(20) == nil)
        // Without the variable, the stored value violates the rule.
        let prefs = prefs()
        #expect(prefs.problems().map(\.description) == ["low must be at most high"])
        prefs.name = "x"
        #expect(prefs.outcome == "ok")
        // With it, other keys are written as before.
        let covered = self.prefs(["APP_HIGH": "30"])
        covered.name = "y"
        #expect(covered.outcome == "ok" && covered.problems() == [])
        #expect(covered.$low.set(31) == RangePrefs.violated)
    }

    /// A removal shows what is below it.
    @Test func aLayerBelowCounts() throws {
        try write(#"{"low": 15}"#, to: below)
        let prefs = prefs()
        #expect(prefs.problems().map(\.description) == ["low must be at most high"])
        prefs.high = 20
        let bytes = try Data(contentsOf: base)
        let removals: [(RangePrefs) -> Void] = [
            { $0.resetAll() }, { $0.deleteRoot() }, { $0.values = [:] }, { $0.$high.reset() }, { $0["high"] = nil },
            { $0.reset("high") }, { prefs in prefs.update { prefs.deleteRoot() } },
        ]
        for remove in removals {
            prefs.lastError = nil
            remove(prefs)
            #expect(prefs.lastError == RangePrefs.violated)
        }
        #expect(try Data(contentsOf: base) == bytes && prefs.high == 20)
        prefs.low = 2
        prefs.deleteRoot()
        #expect(prefs.lastError == RangePrefs.violated, "low is 15 again")
        try write("{}", to: below)
        prefs.deleteRoot()
        #expect(prefs.outcome == "ok" && prefs.values.isEmpty)
    }

    /// An administrator's mistake is told, and blocks nobody.
    @Test func aFileOfALayerMayViolateARule() throws {
        let prefs = prefs()
        prefs.high = 5
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        try write(#"{"low": 6}"#, to: below)
        #expect(told.wait(for: 1) == ["low must be at most high"])
        #expect(prefs.$name.set("x") == nil && prefs.low == 6)
        #expect(prefs.$high.set(4) == nil, "as wrong as before")
        errors.cancel()
    }

    /// What a rule reads is the writer's concern only if the write fails.
    @Test func aFaultThatARuleMeetsIsNotToldByTheWrite() throws {
        let prefs = prefs(below: ["low": 2])
        #expect(prefs.errors == [])
        try write(#"{"low": "y"}"#, to: below)
        try write(#"{"low": "x"}"#, to: base)
        prefs.name = "a"
        #expect(prefs.outcome == "ok" && prefs.errors == [])
        #expect(prefs.low == 2)
        #expect(prefs.errors.count == 2)
    }

    /// Two classes in one flat file.
    @Test func aFlatRoot() throws {
        let store = PrefsStore.json(url: base)
        try write(#"{"low": 2, "high": 4, "other": {"a": 1}}"#, to: base)
        let prefs = RangePrefs(store: store)
        #expect(prefs.$low.set(5) == RangePrefs.violated)
        #expect(prefs.update { prefs.low = 3 }.failure == nil)
        prefs.deleteRoot()
        #expect(try String(decoding: Data(contentsOf: base), as: UTF8.self).contains(#""other": {"a": 1}"#))
        #expect(prefs.outcome == "ok")
    }
}
