public import PersistentPreferences

extension PrefDescription {
    /// The texts of all values that the property accepts, in their order, or nil if they cannot be listed.
    ///
    /// They are known for a `CaseIterable` type with at most 256 cases, for Bool (`true`, `false`) and for a list in a
    /// constraint; also in an optional. Values that another constraint rejects are left out. Each access makes the
    /// texts again.
    public var choices: [String]? { (property as? any TextProperty)?.choices }
}
