import PrefsFileEngine

/// A state that the reads of one instance see on one thread while a closure runs. The notification of key-value
/// observers that a value will change comes after the commit, and the observers then ask for the former value.
///
/// Writes still start from what is stored. Errors of such reads are not reported.
final class PastState: SeenState {
    let entry: EntryState
    private let state: InstanceState

    init(_ entry: EntryState, of state: InstanceState) {
        self.entry = entry
        self.state = state
    }

    /// Creates a state of a root without layers; nil if the root is missing.
    convenience init(_ root: [String: StoredValue]?, of state: InstanceState) {
        self.init(EntryState(root.map(StoredValue.dictionary)), of: state)
    }

    override func revision(of root: String, for state: InstanceState, in roots: Roots) -> Revision?? {
        state === self.state ? .some(nil) : nil
    }

    /// The state that the thread's reads of an instance see; nil if they see what is stored.
    static func current(of state: InstanceState) -> PastState? {
        guard let innermost = SeenState.current else { return nil }
        return innermost.first { $0.state === state }
    }
}
