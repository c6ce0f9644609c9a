import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The entries of a domain that this process has read. Each is kept until the system reports that it may have changed.
///
/// An entry is dropped when key-value observing reports it, and every entry when `UserDefaults.didChangeNotification` is
/// posted. Key-value observing takes a key with a dot or a leading `@` for a path. So such an entry is not cached, and each
/// commit of this package that changes one also gives another entry, the mark, a new value. Observers hear of other programs'
/// changes of such entries only with the next report of another change.
///
/// A key is observed once, until the process ends: an observer must not be removed while it is called.
final class DefaultsEntryCache: @unchecked Sendable {
    struct Entry: @unchecked Sendable {
        /// In canonical form; nil if there is none.
        let object: Any?
        /// nil if the entry cannot be observed, so that it may differ at the next read.
        let revision: Revision?
    }

    /// Has a value that was never there before. No content shows it.
    static let mark = "PersistentPreferences mark"
    /// So many keys are observed and cached at most. Others are read anew each time.
    private static let mostKeys = 1_000

    private let system: any SystemDefaults
    /// Held while a key-value observer is added: an entry is not read before it is observed.
    private let adding = Lock()
    private var observed: Set<String> = []

    private let lock = Lock()
    // Under the lock.
    private var cached: [String: Entry] = [:]
    private var signs = 0
    private var watches: [Int: (part: String, changed: @Sendable () -> Void)] = [:]
    private var lastNumber = 0

    init(_ system: any SystemDefaults) {
        self.system = system
    }

    // MARK: - Reading

    func cached(_ key: String) -> Entry? {
        lock.withLock { cached[key] }
    }

    func load(_ key: String) -> Entry {
        let isObserved = observe(key)
        let count = lock.withLock { signs }
        let entry = Entry(object: stored(key), revision: isObserved ? Revision() : nil)
        guard isObserved else { return entry }
        // A change that was reported meanwhile may be one of this entry.
        lock.withLock { if signs == count { cached[key] = entry } }
        return entry
    }

    /// From this domain alone. The whole domain is copied only if another domain has a value for the key.
    func stored(_ key: String) -> Any? {
        guard let object = system.object(forKey: key) else { return nil }
        let own: Any? = system.isInOtherDomains(key) ? system.allEntries()[key] : object
        return own.map { Self.canonical($0, key) }
    }

    static func canonical(_ value: Any, _ key: String) -> Any {
        guard case .success(let copy) = PropertyListVetter.canonical(value, forKey: key) else { return value }
        return copy
    }

    // MARK: - Reported changes

    /// - Returns: false if changes of the entry alone cannot be observed.
    @discardableResult
    func observe(_ key: String) -> Bool {
        let isKeyPath = Self.isKeyPath(key)
        let key = isKeyPath ? Self.mark : key
        return adding.withLock {
            if observed.contains(key) { return !isKeyPath }
            guard isKeyPath || observed.count < Self.mostKeys else { return false }
            observed.insert(key)
            system.observe(key) { [weak self] in self?.drop(key == Self.mark ? nil : [key]) }
            return !isKeyPath
        }
    }

    /// Calls the closure when a part of the domain may have changed, until what is returned is released.
    func watch(_ part: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject {
        // Of the whole domain, the mark; the domain says which keys besides.
        observe(part.isEmpty ? Self.mark : part)
        let number = lock.withLock {
            lastNumber += 1
            watches[lastNumber] = (part, changed)
            return lastNumber
        }
        return Watch(self, number)
    }

    var watchedParts: Set<String> { lock.withLock { Set(watches.values.map(\.part)) } }

    /// Called inside each commit, with what it has changed.
    func didCommit(_ changed: [String]) {
        drop(changed)
        if changed.contains(where: Self.isKeyPath) { system.set(UUID().uuidString, forKey: Self.mark) }
    }

    /// - Parameter keys: nil for all.
    func drop(_ keys: [String]?) {
        let actions = lock.withLock {
            signs += 1
            if let keys { keys.forEach { cached[$0] = nil } } else { cached = [:] }
            return watches.values.filter { keys == nil || $0.part.isEmpty || keys?.contains($0.part) == true }
        }
        actions.forEach { $0.changed() }
    }

    private static func isKeyPath(_ key: String) -> Bool {
        key.isEmpty || key.utf8.contains(UInt8(ascii: ".")) || key.hasPrefix("@")
    }

    /// Ends with the object.
    private final class Watch {
        private let cache: DefaultsEntryCache
        private let number: Int

        init(_ cache: DefaultsEntryCache, _ number: Int) {
            (self.cache, self.number) = (cache, number)
        }

        deinit {
            _ = cache.lock.withLock { cache.watches.removeValue(forKey: number) }
        }
    }
}
