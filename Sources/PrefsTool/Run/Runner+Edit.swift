extension Runner {
    /// Opens the values in the person's editor.
    func edit() throws -> Outcome {
        if wantsJSON { throw UsageError("`edit` does not support --json") }
        var session = try EditSession(place, invocation)
        return try session.run()
    }
}
