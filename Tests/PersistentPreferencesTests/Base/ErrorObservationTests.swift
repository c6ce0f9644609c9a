import PersistentPreferences
import TestSupport
import Testing

@testable import EngineSupport

/// Closures that receive every error of an instance.
@Suite struct ErrorObservationTests {
    private let prefs = TickPrefs(store: InMemoryStore())

    @Test func everyErrorIsHeardUntilTheObservationEnds() throws {
        let (prefs, heard) = (prefs, Heard<String>())
        let first = prefs.onError { heard.append("1 \($0)") }
        let second = prefs.onError { error in
            // An error inside the closure does not call it again.
            prefs["inner"] = 1
            heard.append("2 \(error)")
        }
        prefs.digit = 10
        #expect(heard.wait(for: 2) == ["1 digit: must be in 0...9", "2 digit: must be in 0...9"])
        first.cancel()
        prefs.update {
            prefs["z"] = 1
            prefs.ticks = 1
        }
        // The error of the access, and the error of the update.
        #expect(
            heard.wait(for: 4).suffix(2)
                == Array(repeating: #"2 expected a key that @Pref declares or keys lists, found "z""#, count: 2))
        second.cancel()
        prefs.digit = 11
        #expect(heard.all.count == 4 && prefs.lastError != nil)
    }

    @Test func aClosureMayEndAnother() {
        let prefs = prefs
        let heard = Heard<Int>()
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
