public import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// A store that keeps its roots in one property-list file, durable and shared by every process that uses this package.
///
/// By default, the file is laid out as a UserDefaults domain is: root keys on top, a dictionary under each. ``DomainLayout``
/// says what else it can be. Entries that are not ours are carried along. It is created when something is first written, 0600,
/// with its folder, 0700; an existing file keeps its format, mode, owner, group, access control list and extended attributes,
/// or the write is rejected. Beside it stand `.NAME.lock` and `.NAME.lastgood`.
///
/// A symbolic link is followed and kept if root or the caller owns it, or if its owner also owns the target. The path is
/// resolved when the file is first used, and again when a link is found to have changed.
///
/// `.NAME.lastgood` is the last good copy: the bytes of the last commit. If another program damages the file, reads leave it as
/// it is and return the newest known state, which is this copy or what the process knew, and ``PrefsError/damaged(_:)`` says
/// which; the next write quarantines the bytes as `NAME.corrupt-…` and stores on top of that state. A malformed file without
/// such a copy was never written by this package: writes are rejected with ``PrefsError/notOurs(_:)``. The copy costs each write
/// one more small file, written and renamed without a flush, and on disk the size of the file once more; reads of a good file do
/// not touch it. If there is no room for it, the write itself has succeeded all the same, and there is no copy.
///
/// A read creates, renames, changes and removes nothing.
///
/// On Linux, a child that was forked in a process with threads can read and write if the parent has done so before; it cannot
/// observe. On Apple platforms a forked child has to call `exec` first. A process that forks inside an update shares its lock
/// with the child, and the child's own commit of that update is rejected. If the parent is killed inside the update, the child
/// holds the lock until it ends or calls `exec`. Other writers wait that long, as they do for a writer that is suspended inside
/// an update. Reads need no lock.
///
/// Stores on one file, however they reach it, share one cache and commit together. Cost of a read: one `fstat`; of a
/// write: one replacement of the file, with two flushes; one open descriptor for as long as the store lives. Safe to use
/// from any thread. A read does not notice that a folder above the file was moved away and another put in its place; the
/// next write does.
public final class PropertyListFileStore: ReportingStore {
    /// How sure a write is to last when it has returned.
    public enum Durability: Sendable, Hashable {
        /// It survives a power cut: the file and its folder are flushed to the medium. The default.
        case powerCut
        /// It survives the process, killed at any instant, but a power cut may undo it or damage the file.
        case process
    }

    /// The file, as given.
    public let url: URL
    private let file: Result<FileLocation, PrefsError>
    private let durability: CommitDurability
    let layout: DomainLayout

    /// A store on a file, which need not exist. Reads and writes nothing yet.
    ///
    /// - Parameters:
    ///   - url: a file URL. Any other makes every access fail with ``PrefsError/invalidName(name:reason:)``.
    ///   - format: of the file, should it have to be created.
    ///   - durability: of this store's writes.
    ///   - layout: whether the values are in a dictionary under each root key, or are the entries of the file.
    ///   - protection: the protection class that the next write gives to the file, and to the files that it creates beside it.
    ///     nil keeps the class of an existing file, and lets the system choose that of a new one. If two stores on one file ask
    ///     for different classes, the store that was first used later decides.
    public convenience init(
        url: URL, format: PropertyListFormat = .binary, durability: Durability = .powerCut,
        layout: DomainLayout = .roots, protection: FileProtection? = nil
    ) {
        self.init(
            url: url, format: format, durability: durability, layout: layout, protection: protection, system: .real)
    }

    /// The same over system calls that a test may make fail.
    init(
        url: URL, format: PropertyListFormat = .binary, durability: Durability = .powerCut,
        layout: DomainLayout = .roots, protection: FileProtection? = nil, system: SystemCalls
    ) {
        self.url = url
        self.layout = layout
        self.durability = durability == .powerCut ? .powerCut : .process
        file = Result { () throws(PrefsError) in
            FileLocation(path: try NameVetting.path(of: url), system: system) {
                $0.setFormatOfNewFile(format)
                if let protection { $0.setProtection(protection) }
            }
        }
    }

    /// The dictionary under a root key; nil where there is none. One `fstat` where nothing has changed.
    public func read(root: String) throws -> [String: Any]? {
        try read(throughReporting: root)
    }

    /// One transaction under the file's lock, on the calling thread; on disk when it returns. See
    /// ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try file.get().transact(root, layout, durability: durability) { try $0.update(body) }
    }

    /// Calls the closure after each commit that changes the root, also one of another process. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try observation(root: root, action)
    }

    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try file.get().subscribe(to: root, layout, subscriber, from: known)
    }

    func readReporting(root: String) throws -> RootSnapshot {
        try file.get().read(root: root, layout, durability: durability)
    }

    func replace(root: String, _ body: ([String: Any]?) throws -> [String: Any]?) throws {
        try file.get().transact(root, layout, durability: durability) { try $0.replace(body) }
    }

    func takeWarning() -> PrefsError? {
        try? file.get().takeWarning()
    }

    func confirm() throws {
        try file.get().confirm(durability)
    }

    func forget() {
        try? file.get().withFile { $0.forget() }
    }
}
