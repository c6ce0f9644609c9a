/// A rule over several values of a class, for ``PersistentPrefs/rules``:
/// `PrefsRule { (prefs: PoolPrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }`.
public struct PrefsRule: Sendable {
    let violation: @Sendable (AnyObject) -> String?
}
