import Foundation
import PersistentPreferences

private enum Theme: String { case light, dark }

/// The new version of a program that has kept its preferences in `UserDefaults`, one entry for each value. The line
/// with the store adopts them.
private final class AdoptedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var volume = 0.5
    @Pref var launches = 0
    @Pref var isDark = false
    @Pref var theme = Theme.light
    @Pref var recent: [String] = []
    @Pref var bookmark = Data()
    @Pref var lastOpened: Date? = nil
    @Pref("screen.width") var width = 100
    @Pref var isNew = true

    static let adopted = PrefsStore.userDefaults(suite: "probe.adopted", layout: .flat)
    override class var store: PrefsStore { adopted }
    override func prefsDidFail(_ error: PrefsError) { print("failed: \(error)") }
}

extension Probe {
    /// Prints what the old program has stored, and changes some of it.
    static func adopt() {
        let prefs = AdoptedPrefs()
        print(prefs.volume, prefs.launches, prefs.isDark, prefs.theme, prefs.recent, Array(prefs.bookmark))
        print(prefs.lastOpened?.timeIntervalSinceReferenceDate ?? -1, prefs.width, prefs.isNew, prefs.values.count)
        prefs.volume = 0.75
        prefs.launches += 1
        prefs.theme = .light
        prefs.recent.append("c")
        prefs.isNew = false
        prefs.$isDark.reset()
        print(UserDefaults(suiteName: "probe.adopted")?.double(forKey: "volume") ?? -1)
    }
}
