import EngineSupport
import Foundation
import PersistentPreferences
import PrefsTesting
import TestSupport
import Testing

/// Preferences in the default store, as in an app.
final class AppPrefs: Prefs, @unchecked Sendable {
    @Pref var number = 0

    static let shared = AppPrefs()
}

@Suite(.waits, .inMemoryPrefs) struct InMemoryPrefsTests {
    @Test(arguments: 1...30)
    func eachCaseHasAStoreOfItsOwn(_ number: Int) async {
        #expect(AppPrefs.shared.number == 0)
        AppPrefs.shared.number = number
        await Task.yield()
        await Task { #expect(AppPrefs.shared.number == number) }.value
        async let child = AppPrefs().number
        #expect(await child == number)
    }

    @Suite(.waits) struct Inner {
        @Test func theTraitOfASuiteReachesSuitesInIt() {
            #expect(AppPrefs.shared.number == 0)
            AppPrefs.shared.number = 1
        }
    }

    @Test func anInstanceOfTheTestKeepsItsStoreInEveryThread() async {
        let prefs = AppPrefs()
        await Task.detached { prefs.number = 1 }.value
        inThreads(4) { _ in _ = prefs.update { prefs.number += 1 } }
        #expect(AppPrefs.shared.number == 5)
    }

    @Test func observersUseTheStoreOfTheTest() async {
        let (heard, changes) = AsyncStream<Int>.makeStream()
        let observation = AppPrefs.shared.onChange { _ in changes.yield(AppPrefs.shared.number) }
        AppPrefs.shared.number = 4
        var numbers = heard.makeAsyncIterator()
        #expect(await numbers.next() == 4)
        observation.cancel()
    }
}

/// A program that does not use the product does not need Swift Testing.
@Suite(.waits) struct LinkingTests {
    @Test(arguments: ["Words", "Probe"])
    func aProgramWithoutTheProductDoesNotLinkTesting(_ program: String) throws {
        let code = try Data(contentsOf: Child.executable(program), options: .alwaysMapped)
        #expect(code.range(of: Data("libFoundation".utf8)) != nil)
        #expect(code.range(of: Data("libTesting".utf8)) == nil)
    }
}
