import Foundation

/// An object that each process has for itself.
///
/// A forked child makes another one. It neither uses nor releases that of its parent, because a thread of the parent may have been
/// changing it.
final class PerProcess<Value: AnyObject & Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let owned: Guarded<(process: pid_t, value: Value)>

    init(_ make: @escaping @Sendable () -> Value) {
        self.make = make
        owned = Guarded((getpid(), make()))
    }

    deinit {
        if owned.withLock({ $0.process }) != getpid() { leak() }
    }

    var value: Value {
        if owned.withLock({ $0.process }) != getpid() {
            leak()
            owned.withLock { $0 = (getpid(), make()) }
        }
        return owned.withLock { $0.value }
    }

    private func leak() {
        _ = owned.withLock { Unmanaged.passRetained($0.value) }
    }
}
