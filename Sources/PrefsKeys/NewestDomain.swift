import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A domain of `UserDefaults`, with the value of one key that other code has set there and not synchronized.
final class NewestDomain: Domain {
    private let domain: any Domain
    private let key: String
    private let newest: NewestEntry
    /// The last state in which UserDefaults had the stored value.
    private let agreed = Locked<(revision: Revision, value: StoredValue?, content: Content?)?>(nil)

    init(_ domain: any Domain, of key: String, _ newest: @escaping NewestEntry) {
        (self.domain, self.key, self.newest) = (domain, key, newest)
    }

    var transaction: Transaction? { domain.transaction }

    var source: AnyObject { domain.source }

    /// Asks UserDefaults each time, because it does not tell when it changes.
    var revision: Revision? {
        guard let revision = domain.revision, let agreed = agreed.withLock({ $0 }), agreed.revision == revision,
            newest(key, agreed.value, agreed.content) == agreed.value
        else { return nil }
        return revision
    }

    /// Without a revision while UserDefaults has another value.
    func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        let stored = try domain.state(of: part, isForWriting: isForWriting)
        // There is no revision in the thread's own update, which has synchronized. UserDefaults may crash on a malformed
        // file.
        guard case .entries = part, let revision = stored.revision, stored.warning == nil else { return stored }
        let former = stored.content?[key]
        let value = newest(key, former, stored.content)
        if value == former {
            agreed.withLock { $0 = (revision, former, stored.content) }
            return stored
        }
        if isForWriting {
            // A write must not take a value for stored that is not. A transaction synchronizes UserDefaults.
            try transact(on: key, durability: .process) { _ in }
            return try domain.state(of: part, isForWriting: true)
        }
        var content = stored.content ?? [:]
        content[key] = value
        return DomainState(content, hasAllEntries: false, format: stored.format, durability: stored.durability)
    }

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try domain.transact(on: root, durability: durability, body)
    }

    func takeWarning() -> FileError? { domain.takeWarning() }

    func forget() { domain.forget() }

    var format: FileFormat? { domain.format }

    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        try domain.subscribe(to: part, observer)
    }
}
