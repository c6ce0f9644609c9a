public import PersistentPreferences

extension PrefsStore {
    /// Creates a store over a backend that you implement. Calls nothing.
    ///
    /// ```swift
    /// let prefs = MailPrefs(store: .backend(AccountBackend(account: "ann", in: file)))
    /// ```
    ///
    /// ## Behavior
    /// As ``PrefsBackend`` says. An instance converts and checks values, migrates them and keeps the last state. Accesses
    /// through two stores over one backend nest as accesses through one store do.
    ///
    /// ## Performance
    /// An access by an instance calls the backend. A dictionary that the backend returns is converted again only if its
    /// storage is new.
    ///
    /// ## Threads
    /// Any thread.
    public static func backend(_ backend: any PrefsBackend) -> PrefsStore {
        PrefsStore(Roots(BackendDomain(backend), durability: .process))
    }
}
