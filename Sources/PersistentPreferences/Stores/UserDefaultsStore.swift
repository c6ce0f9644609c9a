public import Foundation
import PrefsFileEngine

/// The store over a domain of `UserDefaults`, and the default of ``PersistentPrefs``.
///
/// Apple platforms: `UserDefaults` is the store, and its daemon the writer; updates are atomic within a process.
/// Linux: the very domain file that `UserDefaults` uses, through the engine of this package (locks, atomic replacement,
/// durability), kept in agreement with `UserDefaults` in this process. Arguments and registered defaults are never read
/// into a root. Safe to use from any thread.
public final class UserDefaultsStore: DomainBackedStore {
    /// The standard domain of this program: the bundle identifier, else on Linux the name of the executable.
    public static let standard = UserDefaultsStore()

    let domainStore: DomainStore
    /// What other code has set on `UserDefaults` and not synchronized; nil if the domain itself knows.
    private let unsynchronized: (any UnsynchronizedEntries)?

    /// The domain of a suite, as `UserDefaults(suiteName:)` has it; on Apple platforms also of an app group.
    ///
    /// - Parameters:
    ///   - suiteName: at most 200 bytes, with no `/`, NUL or leading dot. Any other makes every access fail with
    ///     ``PrefsError/invalidName(name:reason:)``. nil stands for the standard domain.
    ///   - layout: whether the values are in a dictionary under each root key, or are the entries of the domain.
    public convenience init(suiteName: String? = nil, layout: DomainLayout = .roots) {
        do {
            if let suiteName { try NameVetting.checkSuite(suiteName) }
            let (domain, unsynchronized) = try Self.domain(suiteName)
            self.init(.success(domain), layout, unsynchronized)
        } catch {
            self.init(.failure(error), layout)
        }
    }

    /// The domain of a model of `UserDefaults`, for tests.
    package convenience init(_ system: any SystemDefaults, layout: DomainLayout = .roots) {
        self.init(.success(DefaultsDomain.of(system)), layout)
    }

    private init(
        _ domain: Result<any DomainStorage, PrefsError>, _ layout: DomainLayout,
        _ unsynchronized: (any UnsynchronizedEntries)? = nil
    ) {
        domainStore = DomainStore(domain, layout: layout)
        self.unsynchronized = unsynchronized
    }

    /// The domain's property-list file; nil on Apple platforms, where it belongs to a daemon, and where the domain has
    /// none because its name is bad or there is no home.
    public var fileURL: URL? {
        try? domainStore.storage.get().fileURL
    }

    /// The dictionary under a root key; nil where there is none. On Linux one `fstat` where nothing has changed.
    public func read(root: String) throws -> [String: Any]? {
        try domainStore.values(of: root)
    }

    /// One transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try domainStore.update(root: root, body)
    }

    /// Calls the closure after each commit that changes the root, also one of another process. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try domainStore.observe(root: root, action)
    }

    // MARK: - Entries of the domain that are not roots of ours

    /// In canonical form; nil if there is none. Writes nothing.
    ///
    /// - Parameter report: called with a warning if the read succeeds with one.
    func entry(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
        let snapshot = try domainStore.entries()
        let stored = try snapshot.value(forKey: key)
        if let warning = snapshot.warning {
            report(warning)
            // UserDefaults may crash on a malformed file.
            return stored
        }
        // Without a revision it is the thread's own update.
        guard let unsynchronized, snapshot.revision != nil else { return stored }
        return try unsynchronized.newest(key, stored, in: snapshot.entries())
    }

    /// nil removes it. The object is in canonical form.
    func setEntry(_ object: Any?, forKey key: String) throws {
        try domainStore.transact { $0.replace(key, with: object) }
    }
}

/// What other code has set on `UserDefaults` and not synchronized.
protocol UnsynchronizedEntries: Sendable {
    /// The value of a key: what is stored, unless other code has set another one.
    func newest(_ key: String, _ stored: Any?, in content: [String: Any]?) -> Any?
}
