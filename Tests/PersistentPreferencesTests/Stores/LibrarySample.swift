// The library of the article "Preferences of a library", verbatim; `DocumentationTests` compares them.

public import PersistentPreferences

final class MailPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(1...100)) var batch = 20
    @Pref var sender = ""
}

/// Sends mail.
public struct Mailer: Sendable {
    private let prefs: MailPrefs

    /// Creates a mailer whose settings are in a store of the program.
    ///
    /// - Parameter store: nil stands for the default store of the program.
    public init(store: PrefsStore? = nil) {
        let root = "org.example.MailKit"  // a root that no class of the program has
        prefs = store.map { MailPrefs(key: root, store: $0) } ?? MailPrefs(key: root)
    }

    /// How many messages are sent at once.
    public var batch: Int { prefs.batch }

    /// Stores the sender.
    ///
    /// - Returns: nil if it is stored.
    public func setSender(_ sender: String) -> PrefsError? {
        prefs.$sender.set(sender)
    }
}
