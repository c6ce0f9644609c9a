/// An observation under way: it ends when this is released or told to.
///
/// No call begins after ``cancel()`` has returned; one that is under way on another thread comes to its end. The observer's
/// closure is released then. Safe to use from any thread, inside the closure too. Mirrors `AnyCancellable` of Combine.
public final class PrefsObservation: @unchecked Sendable {
    private let lock = Lock()
    private var end: (@Sendable () -> Void)?

    /// For a ``PrefsStore`` of your own: `end` is called once, when the observation is to end.
    public init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        cancel()
    }

    /// Ends the observation. What is ended already stays so.
    public func cancel() {
        let end = lock.withLock {
            defer { self.end = nil }
            return self.end
        }
        end?()
    }
}
