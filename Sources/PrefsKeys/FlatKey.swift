import PersistentPreferences
import PrefsPropertyLists

/// The declaration of an `AppSetting` with its own key.
///
/// Unchecked because the default may not be Sendable; it is only read.
final class FlatKey<Value>: @unchecked Sendable {
    private let key: String
    private let defaultValue: Value
    private let coding: PrefCoding<Value>
    private let didFail: (@Sendable (PrefsError) -> Void)?
    /// The key in the place of the last access.
    private let known = Locked<KeyPrefs<Value>?>(nil)

    init(
        _ key: String, _ defaultValue: Value, _ coding: PrefCoding<Value>, _ didFail: (@Sendable (PrefsError) -> Void)?
    ) {
        (self.key, self.defaultValue, self.coding, self.didFail) = (key, defaultValue, coding, didFail)
    }

    func prefs(in place: KeyPlace) -> KeyPrefs<Value> {
        known.withLock { known in
            if let known, known.isIn(place) { return known }
            let new = KeyPrefs(key, defaultValue, coding, in: place) { [didFail] in didFail?($0) }
            known = new
            return new
        }
    }
}
