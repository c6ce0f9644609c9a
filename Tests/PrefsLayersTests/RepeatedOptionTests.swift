import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import PrefsLayers

/// An option that is given more than once.
@Suite struct RepeatedOptionTests {
    private final class ListPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.count(2...4)) var tags = ["a", "b"]
        @Pref var numbers: [Int]? = nil
        @Pref var colors: Set<String> = []
        @Pref var days: [Date] = []
        @Pref var name = "none"
        @Pref var size = 1
        @Pref var verbose = false
    }

    private func prefs(_ arguments: String...) -> ListPrefs {
        ListPrefs(store: .layered(.memory(), above: [.arguments(["p"] + arguments)]))
    }

    @Test func aListHasTheElementsInOrder() {
        #expect(prefs("--tags", "z", "--tags=y", "-tags", "x").tags == ["z", "y", "x"])
        #expect(prefs("--tags", "z,y", "x", "--tags", #"["w,v"]"#).tags == ["z", "y", "w,v"])
        #expect(prefs("--numbers", "3", "--numbers", "1", "--numbers", "2").numbers == [3, 1, 2])
        #expect(prefs("--colors", "red", "--colors", "blue", "--colors", "red").colors == ["red", "blue"])
        #expect(prefs("--colors", "red", "--colors", "red").values["colors"] as? [String] == ["red"])
        #expect(
            prefs("--days", "2001-01-02", "--days", "2001-01-01").days.map(\.timeIntervalSinceReferenceDate) == [
                86_400, 0,
            ])
        #expect(prefs("--tags=", "--tags", "a", "--tags", "b").tags == ["a", "b"])
    }

    @Test func theLastOfOthersCounts() {
        let prefs = prefs("--name", "a", "--name", "b", "--size", "2", "--size=3", "--verbose", "--no-verbose")
        #expect(prefs.name == "b" && prefs.size == 3 && !prefs.verbose && prefs.lastError == nil)
    }

    /// Each of two elements alone would be too few.
    @Test func theConstraintHoldsForTheWholeList() {
        #expect(prefs("--tags", "x", "--tags", "y").tags == ["x", "y"])
        let many = prefs("--tags", "1,2,3", "--tags", "4,5")
        #expect(many.tags == ["a", "b"])
        #expect(many.problems().map(\.description) == ["--tags: arguments: must have 2...4 elements"])
        #expect(prefs("--tags", "x").problems().map(\.reason) == [#"must have 2...4 elements, found x"#])
    }

    @Test func anElementThatDoesNotFitIsNamed() {
        let prefs = prefs("--numbers", "1", "--numbers", "x", "--numbers", "2")
        #expect(prefs.numbers == nil)
        #expect(prefs.problems().map(\.description) == [#"--numbers: arguments: expected Array<Int>, found "x""#])
    }

    @Test func anOptionWithoutAValueIsAFaultOfTheWholeList() {
        for arguments in [["--tags", "x", "--tags"], ["--tags", "--tags", "x"]] {
            let prefs = ListPrefs(store: .layered(.memory(), above: [.arguments(["p"] + arguments)]))
            #expect(prefs.tags == ["a", "b"])
            #expect(prefs.problems().map(\.description) == ["--tags: arguments: expected a value after it"])
        }
    }

    @Test func allOfThemAreUsed() {
        let prefs = prefs()
        #expect(PrefsLayer.unusedArguments(by: prefs, in: ["p", "--tags", "a", "b", "--tags=c"]) == ["b"])
    }
}
