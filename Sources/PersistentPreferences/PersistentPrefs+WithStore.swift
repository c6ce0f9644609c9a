extension PersistentPrefs {
    /// Runs the closure so that instances created in it, and in tasks that it starts, use `store`. For tests and previews of code
    /// that creates its own instances.
    ///
    /// ```swift
    /// PersistentPrefs.withStore(InMemoryStore()) { EditorPrefs().fontSize = 14 }
    /// ```
    ///
    /// It takes precedence over ``store``; a store that is passed to an initializer takes precedence over both. Instances keep
    /// the store that they were created with. Any thread. Mirrors `withDependencies` of the Dependencies libraries.
    public static func withStore<R>(_ store: any PrefsStore, _ body: () throws -> R) rethrows -> R {
        try StoreOverride.$current.withValue(store, operation: body)
    }

    /// The same for an asynchronous closure, on the caller's actor.
    public static func withStore<R>(
        _ store: any PrefsStore, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await StoreOverride.$current.withValue(store, operation: body, isolation: isolation)
    }
}

/// The store that takes the place of the class's own, in this task.
enum StoreOverride {
    @TaskLocal static var current: (any PrefsStore)?
}
