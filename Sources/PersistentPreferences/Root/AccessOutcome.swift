/// The warnings and errors that one access of an instance reports besides its result.
struct AccessOutcome {
    /// The warning for `lastError`: the first that was noted, unless an unusable stored value replaces it.
    private(set) var warning: PrefsError?
    /// Whether the stored value could not be used, so that layers were read without it. The warning says why.
    private(set) var hasPassedOverBase = false
    /// Whether the write has reached the domain. If it fails after that, the domain itself has rolled back the update.
    var hasReachedDomain = false
    private let state: InstanceState
    /// All warnings and errors that were noted; nil if those that are not the warning are reported at once.
    private(set) var noted: [PrefsError]?

    /// - Parameter isSilent: whether nothing is reported; `noted` then collects everything.
    init(of state: InstanceState, warning: PrefsError? = nil, isSilent: Bool = false) {
        self.state = state
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
        default: state.owner?.tell(.invalidLayer(faults))
        }
    }

    /// Not inlined, because it would cost every read.
    @inline(never)
    mutating func passOverBase(_ error: PrefsError) {
        hasPassedOverBase = true
        noted?.append(error)
        if noted == nil, let warning, warning != error { state.owner?.tell(warning) }
        warning = error
    }

    /// After a write that succeeded, an error of its read no longer applies: a damaged file, for example, was
    /// quarantined and replaced. The write's own warning takes its place.
    mutating func hasSucceeded(_ warning: PrefsError?) {
        self.warning = warning
    }
}
