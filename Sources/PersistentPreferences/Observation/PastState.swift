import PrefsFileEngine
import PrefsPropertyLists

/// A state that the reads of one instance see on one thread while a closure runs. The notification of key-value
/// observers that a value will change comes after the commit, and the observers then ask for the former value.
///
/// Writes still start from what is stored. Errors of such reads are not reported.
final class PastState {
    let entry: EntryState
    private let state: InstanceState
    private static let threads = ThreadLocal()

    init(_ entry: EntryState, of state: InstanceState) {
        self.entry = entry
        self.state = state
    }

    /// Creates a state of a root without layers; nil if the root is missing.
    convenience init(_ root: [String: StoredValue]?, of state: InstanceState) {
        self.init(EntryState(root.map(StoredValue.dictionary)), of: state)
    }

    func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
        let outer = Self.threads.value
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { Self.threads.value = outer }
        return try body()
    }

    /// The state that the thread's reads of an instance see; nil if they see what is stored.
    static func current(of state: InstanceState) -> PastState? {
        guard let value = threads.value else { return nil }
        let current = Unmanaged<PastState>.fromOpaque(value).takeUnretainedValue()
        return current.state === state ? current : nil
    }
}
