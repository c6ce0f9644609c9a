import PrefsPropertyLists

/// What an `AppSetting` with a key of its own declares. An object, because its identity tells its failures from those of others.
final class FlatKey<Value>: KeyedValue {
    let stringKey: String
    let coding: PrefCoding<Value>
    private let givenDefault: Value
    private let failureHandler: (@Sendable (PrefsError) -> Void)?

    init(
        _ key: String, _ defaultValue: Value, _ coding: PrefCoding<Value>,
        _ failureHandler: (@Sendable (PrefsError) -> Void)?
    ) {
        stringKey = key
        givenDefault = defaultValue
        self.coding = coding
        self.failureHandler = failureHandler
    }

    var identifier: ObjectIdentifier { ObjectIdentifier(self) }

    /// Each reader gets its own copy if it holds an object.
    var defaultValue: Value {
        ObjectSearch.findsObject(in: givenDefault) ? coding.copy(of: givenDefault) : givenDefault
    }

    func didFail(_ error: PrefsError) { failureHandler?(error) }
}
