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
        owned = Guarded((CurrentProcess.id, make()))
    }

    deinit {
        owned.withLock { if $0.process != CurrentProcess.id { _ = Unmanaged.passRetained($0.value) } }
    }

    /// The object, unless this is a forked child that has not made its own.
    var existing: Value? { owned.withLock { $0.process == CurrentProcess.id ? $0.value : nil } }

    var value: Value {
        owned.withLock { owned in
            if owned.process != CurrentProcess.id {
                _ = Unmanaged.passRetained(owned.value)
                owned = (CurrentProcess.id, make())
            }
            return owned.value
        }
    }
}

/// The process that runs. `getpid` is a system call for each request on Linux.
enum CurrentProcess {
    nonisolated(unsafe) private static var known: pid_t = {
        // In the child there is no other thread yet.
        pthread_atfork(nil, nil, { CurrentProcess.known = getpid() })
        return getpid()
    }()

    static var id: pid_t { known }
}
