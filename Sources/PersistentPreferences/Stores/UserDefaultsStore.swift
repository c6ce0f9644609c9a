public import Foundation
import PrefsFileEngine

/// A store over a domain of `UserDefaults`. The standard domain is the default store of ``PersistentPrefs``.
///
/// ```swift
/// final class SharedPrefs: Prefs, @unchecked Sendable {
///     @Pref var launches = 0
///
///     static let suite = UserDefaultsStore(suiteName: "group.org.example.app")
///     override class var store: any PrefsStore { suite }
/// }
/// ```
///
/// ## Behavior
/// On Apple platforms, `UserDefaults` is the store, and its daemon writes the file; an update is atomic within the process. On
/// Linux, the package reads and writes the domain file of `UserDefaults` itself, with locks and durable writes, and keeps
/// `UserDefaults` of this process in agreement. Arguments and registered defaults are never read into a root.
///
/// ## Performance
/// On Linux, a read costs one `fstat` if nothing has changed, and a write replaces the file and flushes it and its folder.
///
/// ## Errors
/// An invalid suite name makes every access fail with ``PrefsError/invalidName(name:reason:)``. On iOS, watchOS and visionOS, a
/// domain whose values cannot be read before the first unlock of the device is not empty: accesses fail with
/// ``PrefsError/unreadable(_:)``. See <doc:BeforeTheFirstUnlock>.
///
/// ## Threads
/// Any thread.
public final class UserDefaultsStore: ReportingStore {
    /// The standard domain of this program. Its name is the bundle identifier; on Linux, the name of the executable if there is none.
    public static let standard = UserDefaultsStore()

    let backend: Result<any DomainBackend, PrefsError>
    let layout: DomainLayout

    /// Creates a store over the domain of `UserDefaults(suiteName:)`. On Apple platforms the suite may be an app group.
    ///
    /// - Parameters:
    ///   - suiteName: at most 200 bytes, without `/`, NUL or a leading dot; nil stands for the standard domain. Any other name makes
    ///     every access fail with ``PrefsError/invalidName(name:reason:)``.
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

    /// The property-list file of the domain. nil on Apple platforms, where a daemon owns the file, and if the name of the domain is
    /// invalid or there is no home folder.
    public var fileURL: URL? {
        try? backend.get().fileURL
    }

    /// Returns the dictionary under a root key, or nil if there is none. On Linux, costs one `fstat` if nothing has changed.
    public func read(root: String) throws -> [String: Any]? {
        try read(throughReporting: root)
    }

    /// Changes a root in one transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try backend.get().transact(root, layout) { try $0.update(body) }
    }

    /// Calls the closure after each commit that changes the root, also those of other processes. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try observation(root: root, action)
    }

    func follow(
        root: String, keys: [String], _ listener: any EntryListener, from known: LastKnownEntry?
    ) throws -> any Following {
        try backend.get().follow(root: root, layout, keys: keys, listener, from: known)
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
