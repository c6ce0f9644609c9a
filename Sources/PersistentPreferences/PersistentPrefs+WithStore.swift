extension PersistentPrefs {
    /// Runs the closure so that accesses in it, and in tasks that it starts, use `store`. For tests and previews of code that has
    /// its own instances.
    ///
    /// ```swift
    /// PersistentPrefs.withStore(InMemoryStore()) { EditorPrefs().fontSize = 14 }
    /// ```
    ///
    /// An instance that was created without a store uses the store of the innermost `withStore` around each access, or else the
    /// store that it was created with: that of the innermost `withStore` then, or ``store``. So a `static let shared` follows, too.
    /// An instance that was created with a store keeps it.
    ///
    /// Observers stay with the store that they started at; their closures run as if inside this `withStore`. Detached tasks, dispatch
    /// queues and threads are outside of it. Any thread. Mirrors `withDependencies` of the Dependencies libraries.
    public static func withStore<R>(_ store: any PrefsStore, _ body: () throws -> R) rethrows -> R {
        try StoreOverride.$innermost.withValue(store.roots, operation: body)
    }

    /// The same for an asynchronous closure, on the caller's actor.
    public static func withStore<R>(
        _ store: any PrefsStore, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await StoreOverride.$innermost.withValue(store.roots, operation: body, isolation: isolation)
    }
}

/// The store that takes the place of an instance's own, in this task.
enum StoreOverride {
    @TaskLocal static var innermost: Roots?
}
