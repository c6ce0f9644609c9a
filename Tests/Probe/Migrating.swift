import PersistentPreferences
import TestSupport

/// A subclass whose step may run only once on the stored values. A second run would change the number again.
final class MigratingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("amount")) var number = 0
    @Pref var turns = 0

    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 1) { $0["amount"] = ($0["amount"] as? Int ?? 0) * 3 }]
    }

    /// Reads and writes a root of a former version, while other processes do so, too.
    static func race(turns: Int) {
        for _ in 0..<turns {
            let prefs = MigratingPrefs()
            let before = prefs.number
            let error = prefs.update { prefs.turns += 1 }.failure
            print(before, prefs.number, error.map { "\($0)" } ?? "ok")
        }
    }
}
