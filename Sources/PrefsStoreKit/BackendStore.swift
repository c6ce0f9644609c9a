public import PersistentPreferences

/// A store over a backend that you implement.
///
/// ```swift
/// let prefs = MailPrefs(store: BackendStore(AccountBackend(account: "ann", in: file)))
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
public final class BackendStore: RootsStore {
    package let ownRoots: Roots

    /// Creates a store. Calls nothing.
    public init(_ backend: any PrefsBackend) {
        ownRoots = Roots(BackendDomain(backend), durability: .process)
    }
}
