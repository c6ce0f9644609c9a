/// State that only a holder of its lock can reach.
///
/// Cost: that of a `Lock`. It is inlined into other modules, because a closure that is not specialized costs more than the lock.
///
/// Unchecked because the lock guards the state, which the compiler cannot see.
@usableFromInline
package final class Locked<State>: @unchecked Sendable {
    @usableFromInline let lock = Lock()
    @usableFromInline var state: State

    package init(_ state: State) {
        self.state = state
    }

    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        try lock.withLock { () throws(E) in try body(&state) }
    }
}
