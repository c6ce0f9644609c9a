/// A `PrefProperty` of any type.
protocol DeclaredProperty: AnyObject, Sendable {
    var explicitKey: String? { get }
    var formerKeys: [String] { get }
    var valueType: Any.Type { get }
    var anyDefaultValue: Any { get }
    /// Stops the program if the default holds an object that cannot be copied.
    func checkDefault()
    var constraintDescription: String? { get }
    /// Why the default must not be one; nil if it may.
    var defaultViolation: String? { get }
    /// Why an object cannot be stored under a key: it does not read back, or it breaks the constraint. nil if it can.
    func failure(of object: Any, forKey key: String) -> PropertyListFailure?
    /// The error of a read of the object; nil if it fits.
    func error(of object: Any, forKey key: String) -> PrefsError?
    /// The object that a text from outside stands for, such as a variable of the environment; or why it stands for none.
    func object(ofText text: String, forKey key: String) -> Result<Any, PropertyListFailure>
}

/// A wrapper that a mirror finds in an instance.
protocol PrefWrapper {
    var declaredProperty: any DeclaredProperty { get }
}
