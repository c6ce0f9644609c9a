public import PersistentPreferences

/// A class of preferences in the interface of a module with library evolution, open to subclasses in other modules.
open class LampPrefs: Prefs, @unchecked Sendable {
    /// Between 0 and 100.
    @Pref(.in(0...100)) public var brightness = 50
}
