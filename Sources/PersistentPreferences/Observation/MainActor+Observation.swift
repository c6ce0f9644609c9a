import Dispatch

/// Observation on the main actor, for code that updates a view or a view model.
extension PersistentPrefs {
    /// Calls a closure on the main actor after each commit that changes the value of one of the keys, or of any key if
    /// you name none. Waiting changes may be merged; see ``PrefsChange``.
    ///
    /// ```swift
    /// @MainActor final class Model {
    ///     private(set) var shown = ""
    ///     private var observation: PrefsObservation?
    ///
    ///     func follow(_ prefs: EditorPrefs) {
    ///         observation = prefs.onChange(of: "theme", on: MainActor.shared) { [weak self] _ in
    ///             self?.shown = prefs.theme
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// The closure is called on the main queue. After `cancel()` on the main actor there is no further call. The rest
    /// is as for ``onChange(of:on:_:)-(String...,DispatchQueue?,_)``.
    public func onChange(
        of keys: String..., on actor: MainActor, _ action: @escaping @MainActor (PrefsChange) -> Void
    ) -> PrefsObservation {
        onChange(of: keys, on: actor, action)
    }

    /// Calls a closure on the main actor after each commit that changes the value of one of the keys in a list. An
    /// empty list stands for all keys.
    package func onChange(
        of keys: [String], on actor: MainActor, _ action: @escaping @MainActor (PrefsChange) -> Void
    ) -> PrefsObservation {
        onChange(of: keys, on: DispatchQueue.main) { change in
            MainActor.assumeIsolated { action(change) }
        }
    }
}

extension PrefHandle {
    /// Calls a closure on the main actor with the old and the new value after commits that change the property.
    ///
    /// The closure is called on the main queue. After `cancel()` on the main actor there is no further call. The rest
    /// is as for ``onChange(on:_:)-(DispatchQueue?,_)``.
    public func onChange(
        on actor: MainActor, _ action: @escaping @MainActor (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        onChange(on: DispatchQueue.main) { old, new in
            // Passed on to the main actor, and not used here again.
            nonisolated(unsafe) let (old, new) = (old, new)
            MainActor.assumeIsolated { action(old, new) }
        }
    }
}
