/// The warnings and errors that one access of an instance reports besides its result.
struct AccessOutcome {
    /// The warning for `lastError`: the first that was noted, unless an unusable stored value replaces it.
    private(set) var warning: PrefsError?
    /// Whether the stored value could not be used, so that layers were read without it. The warning says why.
    private(set) var hasPassedOverBase = false
    /// Whether the write has reached the domain. If it fails after that, the domain itself has rolled back the update.
    var hasReachedDomain = false
    private let state: InstanceState
    private let isOfWrite: Bool
    /// All warnings and errors that were noted; nil if those that are not the warning are reported at once.
    private(set) var noted: [PrefsError]?

    /// - Parameters:
    ///   - isOfWrite: whether each warning is told. A read tells a fault once.
    ///   - isSilent: whether nothing is reported; `noted` then collects everything.
    init(of state: InstanceState, warning: PrefsError? = nil, isOfWrite: Bool = false, isSilent: Bool = false) {
        self.state = state
        self.isOfWrite = isOfWrite
        self.warning = warning
        noted = isSilent ? [] : nil
    }

    mutating func note(_ new: PrefsError) {
        noted?.append(new)
        warning = warning ?? new
    }

    mutating func note(_ faults: [LayerFault]) {
        guard !faults.isEmpty else { return }
        if noted != nil {
            noted?.append(.invalidLayer(faults))
            return
        }
        switch warning {
        case nil: warning = .invalidLayer(faults)
        case .invalidLayer(let others): warning = .invalidLayer(others + faults.filter { !others.contains($0) })
        default: tell(.invalidLayer(faults))
        }
    }

    /// Not inlined, because it would cost every read.
    @inline(never)
    mutating func passOverBase(_ error: PrefsError) {
        hasPassedOverBase = true
        noted?.append(error)
        if noted == nil, let warning, warning != error { tell(warning) }
        warning = error
    }

    private func tell(_ warning: PrefsError) {
        if isOfWrite { state.owner?.notify(of: warning) } else { state.owner?.tell(warning) }
    }

    /// After a write that succeeded, an error of its read no longer applies: a damaged file, for example, was
    /// quarantined and replaced. The write's own warning takes its place.
    mutating func hasSucceeded(_ warning: PrefsError?) {
        self.warning = warning
    }
}
