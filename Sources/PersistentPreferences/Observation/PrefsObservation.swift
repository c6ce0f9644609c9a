import PrefsPropertyLists

/// An active observation. It ends when you cancel or release it.
///
/// ```swift
/// let observation = prefs.onChange(of: "theme") { change in print(change.newValues) }
/// observation.cancel()
/// ```
///
/// ## Behavior
/// After ``cancel()`` has returned, no new call of the closure begins; a call that has begun on another thread runs to
/// its end. If you call it on the serial queue that you passed, no call is running and none follows. The closure is
/// released. Cancelling again has no effect.
///
/// ## Threads
/// Any thread, also inside the closure. Mirrors `AnyCancellable` of Combine.
public final class PrefsObservation: Sendable {
    private let end: Locked<(@Sendable () -> Void)?>

    /// - Parameter end: called once, when the observation ends.
    package init(ending end: @escaping @Sendable () -> Void) {
        self.end = Locked(end)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. Has no effect on an observation that has ended.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
