extension Result {
    /// The error of a call that failed; nil if it succeeded.
    package var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
