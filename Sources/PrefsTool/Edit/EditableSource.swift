import PersistentPreferences

/// What an editor edits: the preferences of a class, or any domain.
protocol EditableSource {
    /// Where the values are, for the title line.
    var title: String { get }
    /// True if entries of any name and type can be added.
    var isOpen: Bool { get }

    /// Reads the values, with what to show of each. If the file is malformed, returns its newest known state and the error.
    func read() throws -> (items: [EditorItem], values: [String: StoredValue], failure: PrefsError?)

    /// Calls the closure from any thread when values or the state of the file may have changed, until what is returned is released.
    /// The failure is why some changes will not be noticed.
    func observe(_ changed: @escaping @Sendable () -> Void) throws -> (observation: [AnyObject], failure: String?)

    /// The place that a user names.
    func path(named name: String, in values: [String: StoredValue]) throws -> ValuePath

    /// The value that a text stands for; nil if the value is to be removed.
    ///
    /// - Parameter type: the type of a value in a domain.
    func value(of text: String, at path: ValuePath, as type: PropertyListType?) throws -> StoredValue?

    /// Replaces a stored value in one transaction. The body gets the current value. nil stands for no value.
    ///
    /// - Returns: the warning of the write, if any.
    func update(_ path: ValuePath, _ body: (StoredValue?) throws -> StoredValue?) throws -> PrefsError?

    /// True if the stored value could be stored again after another one.
    func accepts(_ value: StoredValue, at path: ValuePath) -> Bool
}
