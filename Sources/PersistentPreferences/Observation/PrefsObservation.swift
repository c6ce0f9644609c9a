import PrefsPropertyLists

/// An observation. It ends when this is cancelled or released.
///
/// Once ``cancel()`` has returned, no further call is made. A call that another thread has begun, or is about to begin, is
/// completed; if `cancel()` is called on the observer's own serial queue, there is no such call. The observer's closure is
/// released then. Safe to use from any thread, also inside the closure. Mirrors `AnyCancellable` of Combine.
public final class PrefsObservation: Sendable {
    private let end: Locked<(@Sendable () -> Void)?>

    /// For a ``PrefsStore`` of your own: `end` is called once, when the observation is to end.
    public init(_ end: @escaping @Sendable () -> Void) {
        self.end = Locked(end)
    }

    deinit {
        cancel()
    }

    /// Ends the observation, once.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
