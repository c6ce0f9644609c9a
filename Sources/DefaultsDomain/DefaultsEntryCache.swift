import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The entries of a domain that this process has read. Each is kept until the system reports that it may have changed.
///
/// An entry is dropped when key-value observing reports it, and every entry when `UserDefaults.didChangeNotification`
/// is posted. Key-value observing interprets a key with a dot or a leading `@` as a path, so such an entry is not
/// cached. Each commit of this package that changes such an entry also gives another entry, the mark, a new value.
/// Observers receive other programs' changes of such entries only with the next report of another change.
///
/// A key is observed once, until the process ends: an observer must not be removed while it is called.
final class DefaultsEntryCache: Sendable {
    struct Entry {
        /// nil if there is no entry.
        let value: StoredValue?
        /// nil if the entry cannot be observed, so that it may differ at the next read.
        let revision: Revision?
    }

    /// The entry that gets a new, unique value after a change of an entry that cannot be observed. No content includes
    /// it.
    static let mark = "PersistentPreferences mark"
    /// The most keys that are observed and cached. Other keys are read each time.
    private static let mostKeys = 1_000

    private let system: any SystemDefaults
    /// The observed keys. The lock is held while a key-value observer is added, because an entry must be observed
    /// before it is read.
    private let observed = Locked<Set<String>>([])

    private struct State {
        var cached: [String: Entry] = [:]
        /// How often the system has reported a change.
        var reports = 0
        var watches: [Int: (part: String, changed: @Sendable () -> Void)] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    init(_ system: any SystemDefaults) {
        self.system = system
    }

    // MARK: - Reading

    func cached(_ key: String) -> Entry? {
        state.withLock { $0.cached[key] }
    }

    func load(_ key: String) -> Entry {
        let isObserved = observe(key)
        let count = state.withLock { $0.reports }
        let entry = Entry(value: stored(key), revision: isObserved ? Revision() : nil)
        guard isObserved else { return entry }
        // A change that was reported in between may concern this entry.
        state.withLock { if $0.reports == count { $0.cached[key] = entry } }
        return entry
    }

    /// The value in this domain alone. The whole domain is copied only if another domain has a value for the key.
    func stored(_ key: String) -> StoredValue? {
        guard let object = system.object(forKey: key) else { return nil }
        let own: Any? = system.isInOtherDomains(key) ? system.allEntries()[key] : object
        return own.map(PropertyListVetter.value(ofStored:))
    }

    // MARK: - Reported changes

    /// - Returns: false if changes of the entry alone cannot be observed.
    @discardableResult
    func observe(_ key: String) -> Bool {
        let isKeyPath = Self.isKeyPath(key)
        let key = isKeyPath ? Self.mark : key
        return observed.withLock { observed in
            if observed.contains(key) { return !isKeyPath }
            guard isKeyPath || observed.count < Self.mostKeys else { return false }
            observed.insert(key)
            system.observe(key) { [weak self] in self?.drop(key == Self.mark ? nil : [key]) }
            return !isKeyPath
        }
    }

    /// Calls the closure when a part of the domain may have changed, until the returned object is released.
    func watch(_ part: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject {
        // For the whole domain, observes the mark; the domain names the other keys.
        observe(part.isEmpty ? Self.mark : part)
        let number = state.withLock { state in
            state.lastNumber += 1
            state.watches[state.lastNumber] = (part, changed)
            return state.lastNumber
        }
        return Watch(self, number)
    }

    var watchedParts: Set<String> { state.withLock { Set($0.watches.values.map(\.part)) } }

    /// Called inside each commit, with the changed keys.
    func didCommit(_ changed: [String]) {
        drop(changed)
        if changed.contains(where: Self.isKeyPath) { system.set(UUID().uuidString, forKey: Self.mark) }
    }

    /// - Parameter keys: nil for all.
    func drop(_ keys: [String]?) {
        let actions = state.withLock { state in
            state.reports += 1
            if let keys { keys.forEach { state.cached[$0] = nil } } else { state.cached = [:] }
            return state.watches.values.filter { keys == nil || $0.part.isEmpty || keys?.contains($0.part) == true }
        }
        actions.forEach { $0.changed() }
    }

    private static func isKeyPath(_ key: String) -> Bool {
        key.isEmpty || key.utf8.contains(UInt8(ascii: ".")) || key.hasPrefix("@")
    }

    /// A watch, which ends when the object is released.
    private final class Watch {
        private let cache: DefaultsEntryCache
        private let number: Int

        init(_ cache: DefaultsEntryCache, _ number: Int) {
            (self.cache, self.number) = (cache, number)
        }

        deinit {
            _ = cache.state.withLock { $0.watches.removeValue(forKey: number) }
        }
    }
}
