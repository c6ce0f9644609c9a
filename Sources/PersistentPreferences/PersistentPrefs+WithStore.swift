extension PersistentPrefs {
    /// Runs the closure so that accesses in it, and in tasks that it starts, use `store`. Use it in tests and previews
    /// of code that has its own instances.
    ///
    /// ```swift
    /// PersistentPrefs.withStore(.memory()) { EditorPrefs().fontSize = 14 }
    /// ```
    ///
    /// An instance that was created without a store uses the store of the innermost `withStore` around each access.
    /// Outside of any `withStore`, it uses the store of the innermost `withStore` around its creation, or ``store``. So
    /// a `static let shared` follows, too. An instance that was created with a store keeps it.
    ///
    /// Observers stay with the store at which they started; their closures run as if inside this `withStore`. Detached
    /// tasks, dispatch queues and threads are outside of it. Any thread. Mirrors `withDependencies` of the Dependencies
    /// libraries.
    public static func withStore<R>(_ store: PrefsStore, _ body: () throws -> R) rethrows -> R {
        try StoreOverride.$innermost.withValue(store.roots, operation: body)
    }

    /// Runs an asynchronous closure, on the caller's actor, so that accesses in it, and in tasks that it starts, use
    /// `store`.
    public static func withStore<R>(
        _ store: PrefsStore, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await StoreOverride.$innermost.withValue(store.roots, operation: body, isolation: isolation)
    }
}
