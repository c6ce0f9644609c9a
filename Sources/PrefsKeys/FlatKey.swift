import PersistentPreferences
import PrefsPropertyLists

/// The declaration of an `AppSetting` with its own key. A class, because its identity distinguishes its errors from
/// other keys' errors.
final class FlatKey<Value>: KeyedValue {
    let stringKey: String
    let coding: PrefCoding<Value>
    let defaultValue: Value
    private let failureHandler: (@Sendable (PrefsError) -> Void)?

    init(
        _ key: String, _ defaultValue: Value, _ coding: PrefCoding<Value>,
        _ failureHandler: (@Sendable (PrefsError) -> Void)?
    ) {
        stringKey = key
        self.defaultValue = defaultValue
        self.coding = coding
        self.failureHandler = failureHandler
    }

    var identifier: ObjectIdentifier { ObjectIdentifier(self) }

    func didFail(_ error: PrefsError) { failureHandler?(error) }
}
