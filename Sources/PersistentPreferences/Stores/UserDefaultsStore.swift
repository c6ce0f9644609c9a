public import Foundation
import PrefsFileEngine

/// The store over a domain of `UserDefaults`, and the default of ``PersistentPrefs``.
///
/// Apple platforms: `UserDefaults` is the store, and its daemon the writer; updates are atomic within a process.
/// Linux: the very domain file that `UserDefaults` uses, through the engine of this package (locks, atomic replacement,
/// durability), kept in agreement with `UserDefaults` in this process. Arguments and registered defaults are never read
/// into a root. Safe to use from any thread.
public final class UserDefaultsStore: ReportingStore {
    /// The standard domain of this program: the bundle identifier, else on Linux the name of the executable.
    public static let standard = UserDefaultsStore()

    let backend: Result<any DomainBackend, PrefsError>
    let layout: DomainLayout

    /// The domain of a suite, as `UserDefaults(suiteName:)` has it; on Apple platforms also of an app group.
    ///
    /// - Parameters:
    ///   - suiteName: at most 200 bytes, with no `/`, NUL or leading dot. Any other makes every access fail with
    ///     ``PrefsError/invalidName(name:reason:)``. nil stands for the standard domain.
    ///   - layout: whether the values are in a dictionary under each root key, or are the entries of the domain.
    public convenience init(suiteName: String? = nil, layout: DomainLayout = .roots) {
        self.init(
            Result { () throws(PrefsError) in
                if let suiteName { try NameVetting.checkSuite(suiteName) }
                return try Self.backend(suiteName)
            }, layout)
    }

    /// The domain of a model of `UserDefaults`, for tests.
    package convenience init(_ system: any SystemDefaults, layout: DomainLayout = .roots) {
        self.init(.success(DefaultsBackend(DefaultsDomain.of(system))), layout)
    }

    private init(_ backend: Result<any DomainBackend, PrefsError>, _ layout: DomainLayout) {
        self.backend = backend
        self.layout = layout
    }

    /// The domain's property-list file; nil on Apple platforms, where it belongs to a daemon, and where the domain has
    /// none because its name is bad or there is no home.
    public var fileURL: URL? {
        try? backend.get().fileURL
    }

    /// The dictionary under a root key; nil where there is none. On Linux one `fstat` where nothing has changed.
    public func read(root: String) throws -> [String: Any]? {
        try read(throughReporting: root)
    }

    /// One transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try backend.get().transact(root, layout) { try $0.update(body) }
    }

    /// Calls the closure after each commit that changes the root, also one of another process. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try observation(root: root, action)
    }

    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try backend.get().subscribe(to: root, layout, keys: keys, subscriber, from: known)
    }

    func readReporting(root: String) throws -> RootSnapshot {
        try backend.get().read(root: root, layout)
    }

    func replace(root: String, _ body: ([String: Any]?) throws -> [String: Any]?) throws {
        try backend.get().transact(root, layout) { try $0.replace(body) }
    }

    func takeWarning() -> PrefsError? {
        try? backend.get().takeWarning()
    }

    func confirm() throws {
        try backend.get().confirm()
    }

    func forget() {
        try? backend.get().forget()
    }

    // MARK: - Entries of the domain that are not roots of ours

    /// In canonical form; nil where there is none.
    ///
    /// - Parameter report: called with what there is to tell although the read succeeds.
    func entry(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
        try backend.get().entry(forKey: key, report)
    }

    /// nil removes it. The object is in canonical form.
    func setEntry(_ object: Any?, forKey key: String) throws {
        try backend.get().setEntry(object, forKey: key)
    }
}
