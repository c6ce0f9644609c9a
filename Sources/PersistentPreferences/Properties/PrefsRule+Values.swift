extension PrefsRule {
    /// Creates a rule for a class and its subclasses. In a class of another kind, it stops the program when it is called.
    ///
    /// - Parameter violation: returns why values are rejected, as a clause, or nil if they are valid. The properties of its
    ///   parameter are the values to judge, as a program would read them; one that cannot be read is the default, and no read
    ///   reports an error. Other instances are read as usual. Runs on the thread of the write, once or twice for each
    ///   transaction, while other writers of the store wait. A write in it is rejected.
    public init<Values: PersistentPrefs>(_ violation: @escaping @Sendable (_ values: Values) -> String?) {
        self.init { prefs in
            guard let values = prefs as? Values else { fatalError("\(type(of: prefs)): a rule for \(Values.self)") }
            return violation(values).map { $0.isEmpty ? "the values violate a rule of \(type(of: prefs))" : $0 }
        }
    }
}
