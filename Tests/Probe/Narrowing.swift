import PersistentPreferences
import TestSupport

/// Two numbers, of which the first is at most the second.
final class GapPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var low = 0
    @Pref var high = 0

    override class var rules: [PrefsRule] {
        [PrefsRule { (prefs: GapPrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }]
    }

    /// Tries to bring the numbers nearer to each other, while other processes do so, too. Prints how often that succeeded.
    static func narrow(attempts: Int) {
        var count = 0
        for number in 0..<attempts {
            let prefs = GapPrefs()
            let error = prefs.update { if number % 2 == 0 { prefs.low += 1 } else { prefs.high -= 1 } }.failure
            switch error {
            case nil: count += 1
            case .ruleViolated(["low must be at most high"]): break
            case let error?: print(error)
            }
        }
        print(count)
    }
}
