import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A domain of `UserDefaults`, with the values that other code has set there and not synchronized.
final class NewestDomain: Domain {
    private let domain: any Domain
    private let newest: UserDefaultsStore.NewestEntry

    init(_ domain: any Domain, _ newest: @escaping UserDefaultsStore.NewestEntry) {
        (self.domain, self.newest) = (domain, newest)
    }

    var transaction: Transaction? { domain.transaction }

    /// Has no revision while UserDefaults has other values. `revision` is nil, because UserDefaults must be asked.
    func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        let stored = try domain.state(of: part, isForWriting: isForWriting)
        // There is no revision in the thread's own update, which has synchronized. UserDefaults may crash on a malformed
        // file.
        guard case .entries(let keys) = part, stored.revision != nil, stored.warning == nil else { return stored }
        var content = stored.content
        var isStored = true
        for key in keys {
            let value = newest(key, stored.content?[key], stored.content)
            if value == stored.content?[key] { continue }
            isStored = false
            content = content ?? [:]
            content?[key] = value
        }
        if isStored { return stored }
        guard isForWriting, let first = keys.first else { return DomainState(content, isWhole: false, form: stored.form) }
        // A write must not take a value for stored that is not. A transaction synchronizes UserDefaults.
        try transact(on: first, durability: .process) { _ in }
        return try domain.state(of: part, isForWriting: true)
    }

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try domain.transact(on: root, durability: durability, body)
    }

    func confirm(_ revision: Revision?, _ durability: CommitDurability) throws -> Bool {
        try domain.confirm(revision, durability)
    }

    func takeWarning() -> FileError? { domain.takeWarning() }

    func forget() { domain.forget() }

    var form: ValueForm { domain.form }

    func subscribe(
        to part: DomainPart, _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try domain.subscribe(to: part, subscriber, from: known)
    }
}
