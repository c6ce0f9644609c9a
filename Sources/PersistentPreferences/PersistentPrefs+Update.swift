/// Updates whose bodies return a value.
extension PersistentPrefs {
    /// Changes many keys in one transaction, and returns the body's value. If a body fits both forms, the compiler chooses the one without
    /// a value.
    ///
    /// ```swift
    /// let number = try prefs.update { values -> Int in
    ///     let next = (values["next"] as? Int ?? 1)
    ///     values["next"] = next + 1
    ///     return next
    /// }.get()
    /// ```
    ///
    /// - Returns: the value that the body returned if the new state is committed, else the error of this call.
    /// - Throws: what the body throws; then nothing has changed.
    @_disfavoredOverload
    @discardableResult
    public func update<R>(_ body: (inout [String: Any]) throws -> R) rethrows -> Result<R, PrefsError> {
        var result: R?
        let failure = try update { (values: inout [String: Any]) -> Void in result = try body(&values) }
        return Self.outcome(result, failure)
    }

    /// Makes the accesses in the body one transaction, and returns what the body returns:
    /// `try prefs.update { prefs.next += 1; return prefs.next }.get()`.
    ///
    /// - Returns: the value that the body returned if the new state is committed, else the error of this call.
    /// - Throws: what the body throws; then nothing has changed.
    @_disfavoredOverload
    @discardableResult
    public func update<R>(_ body: () throws -> R) rethrows -> Result<R, PrefsError> {
        var result: R?
        let failure = try update { () -> Void in result = try body() }
        return Self.outcome(result, failure)
    }

    /// A store outside this package may end an update without running its body.
    private static func outcome<R>(_ value: R?, _ failure: PrefsError?) -> Result<R, PrefsError> {
        if let failure { return .failure(failure) }
        return value.map(Result.success) ?? .failure(.unknownError(error: nil))
    }
}
