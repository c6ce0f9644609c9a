import PrefsPropertyLists

/// A state that the reads of one instance see on one thread while a closure runs: key-value observers are told before a change,
/// when it is made already, and then ask for the former values.
///
/// Writes start from what is stored all the same, and what such reads meet is nobody's last error.
final class PastState {
    /// As it is stored; nil where there is none.
    let root: [String: Any]?
    private let state: InstanceState
    private static let threads = ThreadLocal()

    init(_ root: [String: Any]?, of state: InstanceState) {
        self.root = root
        self.state = state
    }

    func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
        let outer = Self.threads.value
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { Self.threads.value = outer }
        return try body()
    }

    /// The one that the thread's reads of an instance see; nil where they see what is stored.
    static func current(of state: InstanceState) -> PastState? {
        guard let value = threads.value else { return nil }
        let current = Unmanaged<PastState>.fromOpaque(value).takeUnretainedValue()
        return current.state === state ? current : nil
    }
}
