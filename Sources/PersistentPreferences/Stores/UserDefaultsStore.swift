public import Foundation
import PrefsFileEngine
import PrefsPropertyLists

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
/// On Apple platforms, `UserDefaults` is the store, and its daemon writes the file later. An update is atomic within the process, and
/// not between processes. (This has not been run on Apple platforms.) On
/// Linux, the package reads and writes the domain file of `UserDefaults` itself, with locks and durable writes, and keeps
/// `UserDefaults` of this process in agreement. Arguments and registered defaults are never read into a root.
///
/// ## Performance
/// On Linux, a read by an instance costs one `fstat` if nothing has changed, and a write replaces the file and flushes it and its folder.
///
/// ## Errors
/// An invalid suite name makes every access fail with ``PrefsError/invalidName(name:reason:)``. On iOS, watchOS and visionOS, a
/// domain whose values cannot be read before the first unlock of the device is not empty: accesses fail with
/// ``PrefsError/unreadable(_:)``. See <doc:BeforeTheFirstUnlock>.
///
/// ## Threads
/// Any thread.
public final class UserDefaultsStore: PrefsStore {
    /// The standard domain of this program: the bundle identifier, else on Linux the name of the executable.
    public static let standard = UserDefaultsStore()

    let ownRoots: Roots
    /// The values that other code has set on `UserDefaults` and not synchronized; nil if the domain itself knows them.
    let newest: NewestEntry?

    /// Returns the value of a key: what is stored, unless other code has set another one. Given what is stored, and the whole domain.
    typealias NewestEntry =
        @Sendable (_ key: String, _ stored: StoredValue?, _ content: [String: StoredValue]?) -> StoredValue?

    /// Creates a store over the domain of `UserDefaults(suiteName:)`. On Apple platforms the suite may be an app group.
    ///
    /// - Parameters:
    ///   - suiteName: at most 200 bytes, without `/`, NUL or a leading dot; nil stands for the standard domain. Any other name makes
    ///     every access fail with ``PrefsError/invalidName(name:reason:)``.
    ///   - layout: whether the values are in a dictionary under each root key, or are the entries of the domain.
    public convenience init(suiteName: String? = nil, layout: DomainLayout = .roots) {
        do {
            if let suiteName { try NameVetting.checkSuite(suiteName) }
            let (domain, newest) = try Self.domain(suiteName)
            self.init(
                Roots(domain, layout: layout, testProcess: suiteName == nil ? TestProcess.current : nil), newest)
        } catch {
            self.init(Roots(unreachable: error, layout: layout))
        }
    }

    /// The domain of a model of `UserDefaults`, for tests.
    package convenience init(_ system: any SystemDefaults, layout: DomainLayout = .roots) {
        self.init(Roots(DefaultsDomain.of(system), layout: layout))
    }

    private init(_ roots: Roots, _ newest: NewestEntry? = nil) {
        ownRoots = roots
        self.newest = newest
    }

    /// The property-list file of the domain. nil on Apple platforms, where a daemon owns the file, and if the name of the domain is
    /// invalid or there is no home folder.
    public var fileURL: URL? {
        ownRoots.fileURL
    }

    /// Returns the dictionary under a root key, or nil if there is none. Costs time linear in the size of the root, and on Linux
    /// one `fstat` if nothing has changed.
    public func read(root: String) throws -> [String: Any]? {
        try ownRoots.read(root: root)
    }

    /// Changes a root in one transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try ownRoots.update(root: root, body)
    }

    /// Calls the closure after each commit that changes the root, also those of other processes. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try ownRoots.observe(root: root, action)
    }
}
