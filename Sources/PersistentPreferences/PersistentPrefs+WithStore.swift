extension PersistentPrefs {
    /// Runs the closure so that instances created in it, and in tasks that it starts, keep their roots in `store`: for
    /// tests and previews of code that says `AppPrefs()` and knows nothing of stores.
    ///
    /// It outranks ``store``, and is outranked by a store given to an initializer. Instances keep the store that they
    /// were created with. Any thread. Mirrors `withDependencies` of the Dependencies libraries.
    public static func withStore<R>(_ store: any PrefsStore, _ body: () throws -> R) rethrows -> R {
        try StoreOverride.$current.withValue(store, operation: body)
    }

    /// The same around asynchronous code, on the caller's actor.
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
