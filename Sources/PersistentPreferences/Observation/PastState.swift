import PrefsPropertyLists

/// A state that the reads of one instance see on one thread while a closure runs. Key-value observers are notified that a value
/// will change after the commit, and then ask for the former value.
///
/// Writes still start from what is stored. Errors of such reads are not reported.
final class PastState {
    /// As it is stored; nil if there is no root.
    let root: [String: StoredValue]?
    /// The layers around it, if the store has any.
    let layers: LayersSnapshot?
    private let state: InstanceState
    private static let threads = ThreadLocal()

    init(_ root: [String: StoredValue]?, layers: LayersSnapshot? = nil, of state: InstanceState) {
        self.root = root
        self.layers = layers
        self.state = state
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
