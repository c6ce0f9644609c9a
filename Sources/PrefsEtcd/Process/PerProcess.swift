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
        owned.withLock { if $0.process != getpid() { _ = Unmanaged.passRetained($0.value) } }
    }

    /// The object, unless this is a forked child that has not made its own.
    var existing: Value? { owned.withLock { $0.process == getpid() ? $0.value : nil } }

    var value: Value {
        owned.withLock { owned in
            if owned.process != getpid() {
                _ = Unmanaged.passRetained(owned.value)
                owned = (getpid(), make())
            }
            return owned.value
        }
    }
}
