/// A `PrefProperty` of any type.
protocol DeclaredProperty: AnyObject, Sendable {
    var explicitKey: String? { get }
    var formerKeys: [String] { get }
    var valueType: Any.Type { get }
    var anyDefaultValue: Any { get }
    /// The default in canonical form; nil if it stores nothing.
    var defaultObject: Any? { get }
    /// Stops the program if the default holds an object that cannot be copied.
    func checkDefault()
    var constraintDescription: String? { get }
    /// Why the default must not be one; nil if it may.
    var defaultViolation: String? { get }
    /// Why an object cannot be stored under a key: it does not read back, or it breaks the constraint. nil if it can.
    func failure(of object: Any, forKey key: String) -> PropertyListFailure?
    /// The object that a text from outside stands for, such as a variable of the environment.
    func reading(of text: String) -> TextReading
    /// The text that reads as this object.
    func text(of object: Any) -> String
    /// Whether the property is optional, and nil satisfies a check.
    var acceptsNil: Bool { get }
    /// The texts of all values; nil if they cannot be listed.
    var choices: [String]? { get }
    var help: String? { get }
    /// The JSON Schema of the values.
    var schema: [String: Any] { get }
    /// The error of a read of the object; nil if it fits.
    func error(of object: Any, forKey key: String) -> PrefsError?
}

/// A wrapper that a mirror finds in an instance.
protocol PrefWrapper {
    var declaredProperty: any DeclaredProperty { get }
}
