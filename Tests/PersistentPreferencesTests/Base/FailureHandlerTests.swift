@testable import EngineSupport
@testable import PrefsSupport
import PersistentPreferences
import PrefsKeys
import PrefsStoreKit
import Testing

/// Its handler reads and writes the value whose access has just failed.
private final class StubbornPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
    let told = Failures()

    override func prefsDidFail(_ error: PrefsError) {
        told.add("\(error)")
        _ = number
        self["unknown"] = 1
    }
}

/// Reports to an object that outlives it.
private final class FleetingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(0...9)) var number = 0
    private let told: Failures

    init(told: Failures, store: PrefsStore) {
        self.told = told
        super.init(key: nil, values: nil, store: store)
    }

    override func prefsDidFail(_ error: PrefsError) { told.add("\(error)") }
}

private struct stubborn: PrefKey {
    static let defaultValue = 0
    static let told = Failures()
    static let values = AppSettingsValues(store: .memory(), root: "R")

    static func didFail(_ error: PrefsError) {
        told.add("\(error)")
        _ = values[stubborn.self]
    }
}

@Suite struct FailureHandlerTests {
    @Test func aHandlerThatFailsAgainIsNotCalledAgain() throws {
        let store = PrefsStore.memory()
        try store.update(root: "StubbornPrefs") { $0 = ["number": "text"] }
        let prefs = StubbornPrefs(store: store)
        #expect(prefs.number == 0)
        #expect(prefs.told.all == ["number: expected Int, found a string"])
        #expect(
            prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"unknown\"",
            "its own accesses are told in lastError")
        prefs["another"] = 1
        #expect(prefs.told.all.count == 2)
    }

    @Test func errorsOfEveryThreadAreReported() throws {
        let store = PrefsStore.memory()
        let prefs = StubbornPrefs(store: store)
        inThreads(8) { _ in for _ in 0..<50 { prefs["another"] = 1 } }
        #expect(prefs.told.all.count == 400)
    }

    @Test func errorsOfAReleasedInstanceAreReported() {
        let (told, store) = (Failures(), PrefsStore.memory())
        let prefs = FleetingPrefs(told: told, store: store)
        prefs.update { FleetingPrefs(told: told, store: store).number = 10 }
        #expect(told.all.filter { $0 == "number: must be in 0...9" }.count == 2, "the fleeting one, and the update")
    }

    @Test func aKeysHandlerThatReadsItIsNotCalledAgain() throws {
        #expect(stubborn.values.set(1, for: stubborn.self) == nil)
        let wrong = PrefsStore.memory()
        try wrong.update(root: "R") { $0 = ["stubborn": "text"] }
        #expect(AppSettingsValues(store: wrong, root: "R")[stubborn.self] == 0)
        #expect(stubborn.told.all.count == 1)
    }

    // MARK: - Closures that receive every error of an instance

    @Test func everyErrorIsHeardUntilTheObservationEnds() throws {
        let (prefs, heard) = (TickPrefs(store: .memory()), Heard<String>())
        let first = prefs.onError { heard.append("1 \($0)") }
        let second = prefs.onError { error in
            // An error inside the closure does not call it again.
            prefs["inner"] = 1
            heard.append("2 \(prefs.ticks) \(error)")
        }
        prefs.digit = 10
        #expect(heard.wait(for: 2) == ["1 digit: must be in 0...9", "2 0 digit: must be in 0...9"])
        first.cancel()
        prefs.update {
            prefs.ticks = 1
            prefs["z"] = 1
        }
        // The error of the access, and the error of the update, both after its rollback.
        let text = #"2 0 expected a key that @Pref declares or allowedKeys lists, found "z""#
        #expect(heard.wait(for: 4).suffix(2) == [text, text])
        second.cancel()
        prefs.digit = 11
        #expect(heard.all.count == 4 && prefs.lastError != nil)
    }

    @Test func aClosureMayEndAnother() {
        let (prefs, heard) = (TickPrefs(store: .memory()), Heard<Int>())
        let second = Locked<PrefsObservation?>(nil)
        let first = prefs.onError { _ in
            heard.append(1)
            second.withLock { $0 }?.cancel()
        }
        second.withLock { $0 = prefs.onError { _ in heard.append(2) } }
        prefs.digit = 10
        #expect(heard.all == [1])
        first.cancel()
    }
}
