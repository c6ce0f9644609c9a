import Foundation
import PersistentPreferences
import PrefsJSON
import TestSupport
import Testing

@testable import PrefsLayers

/// An empty variable, which says that something is unset.
@Suite struct EmptyVariableTests {
    private final class UnsetPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var title: String? = "given"
        @Pref(.in(1...9)) var limit: Int? = nil
        @Pref var isFast: Bool? = nil
        @Pref var parts: [String]? = ["p"]
        @Pref(.check { $0 == nil ? "must not be nil" : nil }) var need: String? = "n"
        @Pref var name = "none"
        @Pref var tags = ["a"]
        @Pref var amount = 3
    }

    private func prefs(_ variables: [String: String], stored: [String: Any] = [:]) -> UnsetPrefs {
        let base = PrefsStore.memory()
        UnsetPrefs(store: base).values = stored
        return UnsetPrefs(
            store: .layered(
                base, above: [.environment(prefix: "A_", in: variables)], below: [.values(["limit": 5])]))
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func anOptionalIsNilWhateverIsBelow(_ text: String) {
        let prefs = prefs(
            ["A_TITLE": text, "A_LIMIT": text, "A_IS_FAST": text, "A_PARTS": text],
            stored: ["title": "stored", "limit": 7, "isFast": true])
        #expect(prefs.title == nil && prefs.limit == nil && prefs.isFast == nil && prefs.parts == nil)
        #expect(prefs.$limit.source == .layer("environment") && prefs.lastError == nil && prefs.problems() == [])
        // Without the variable, all of them are there.
        #expect(self.prefs([:]).limit == 5 && self.prefs([:]).title == "given")
    }

    @Test func aWriteOfNilSucceedsAndAnotherOneIsRejected() {
        let prefs = prefs(["A_LIMIT": "", "A_TITLE": ""])
        #expect(prefs.$limit.set(nil) == nil && prefs.$title.set(nil) == nil)
        #expect(prefs.$limit.set(4)?.coveredKeys.map(\.topLevelKey) == ["limit"])
        #expect(prefs.limit == nil && !prefs.$limit.isStored)
    }

    @Test func othersHaveTheirEmptyValueOrNone() {
        let prefs = prefs(["A_NAME": "", "A_TAGS": "", "A_AMOUNT": "", "A_NEED": ""])
        #expect(prefs.name == "" && prefs.tags == [] && prefs.amount == 3 && prefs.need == "n")
        #expect(
            prefs.problems().map(\.description) == [
                "A_NEED: environment: must not be nil",
                #"A_AMOUNT: environment: expected Int, found "": not a number"#,
            ])
    }

    /// An argument says what it means.
    @Test func anEmptyArgumentIsAText() {
        let prefs = UnsetPrefs(
            store: .layered(.memory(), above: [.arguments(["p", "--title=", "-parts", ""])]))
        #expect(prefs.title == "" && prefs.parts == [])
    }
}
