import Foundation
import PrefsFileEngine

/// How a `UserDefaultsStore` reaches its domain: through `UserDefaults` on Apple platforms, through the file on Linux.
protocol DomainBackend: Sendable {
    /// nil if the domain belongs to a daemon.
    var fileURL: URL? { get }

    func read(root: String, _ layout: DomainLayout) throws -> RootSnapshot
    func transact(_ root: String, _ layout: DomainLayout, _ body: (RootTransaction) throws -> Void) throws
    func subscribe(
        to root: String, _ layout: DomainLayout, keys: [String], _ subscriber: any EntrySubscriber,
        from known: LastKnownEntry?
    ) throws -> EntrySubscription

    /// An entry in canonical form; nil if there is none. Writes nothing.
    ///
    /// - Parameter report: called with a warning if the read succeeds with one.
    func entry(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any?
    /// nil removes the entry. The object is in canonical form.
    func setEntry(_ object: Any?, forKey key: String) throws

    /// All entries; nil if there is no domain.
    @Sendable func content() throws -> (content: [String: Any]?, failure: PrefsError?)
    @Sendable func transact(_ body: (Transaction) throws -> Void) throws

    func takeWarning() -> PrefsError?
    func confirm() throws
    func forget()
}
