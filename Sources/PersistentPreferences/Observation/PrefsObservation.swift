import PrefsPropertyLists

/// An observation under way: it ends when this is released or told to.
///
/// Once ``cancel()`` has returned, no further call is made; one that another thread has begun, or is about to begin, comes to
/// its end. On the observer's own serial queue there is none such. The observer's closure is released then. Safe to use from
/// any thread, inside the closure too. Mirrors `AnyCancellable` of Combine.
public final class PrefsObservation: Sendable {
    private let end: Locked<(@Sendable () -> Void)?>

    /// For a ``PrefsStore`` of your own: `end` is called once, when the observation is to end.
    public init(_ end: @escaping @Sendable () -> Void) {
        self.end = Locked(end)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. What is ended already stays so.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
