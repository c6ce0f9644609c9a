import Foundation
import PrefsFileEngine

/// The storage of a domain: a file, a domain of `UserDefaults`, or memory. Throws the errors of the engine.
protocol DomainStorage: AnyObject, Sendable {
    /// nil if it is not a file of ours.
    var fileURL: URL? { get }

    func read(_ root: String, _ layout: DomainLayout) throws -> RootSnapshot

    /// A read that decides about a write: waits for what other programs are storing just now.
    func readForWriting(_ root: String, _ layout: DomainLayout) throws -> RootSnapshot

    /// As `RootStore.knownRevision(of:)`.
    var knownRevision: Revision? { get }

    func transact(durability: CommitDurability, _ body: (Transaction) throws -> Void) throws

    /// Makes the state of a read durable.
    ///
    /// - Returns: false if the cached state was durable already, so that the file was not read again.
    func confirm(_ revision: Revision?, _ durability: CommitDurability) throws -> Bool

    func takeWarning() -> FileError?

    func forget()

    /// - Parameter part: the name of an entry; empty for all entries.
    func subscribe(
        to part: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription
}

extension DomainStorage {
    var fileURL: URL? { nil }
    func readForWriting(_ root: String, _ layout: DomainLayout) throws -> RootSnapshot { try read(root, layout) }
    var knownRevision: Revision? { nil }
    func confirm(_ revision: Revision?, _ durability: CommitDurability) -> Bool { false }
    func takeWarning() -> FileError? { nil }
    func forget() {}
}

/// A domain that cannot be reached, because its name is bad, for example: every access fails.
final class UnreachableDomain: DomainStorage {
    let error: PrefsError

    init(_ error: PrefsError) {
        self.error = error
    }

    func read(_ root: String, _ layout: DomainLayout) throws -> RootSnapshot { throw error }

    func transact(durability: CommitDurability, _ body: (Transaction) throws -> Void) throws { throw error }

    func subscribe(
        to part: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription { throw error }
}

extension FileLocation: DomainStorage {
    var fileURL: URL? { URL(filePath: path, directoryHint: .notDirectory) }

    func read(_ root: String, _ layout: DomainLayout) throws -> RootSnapshot {
        try snapshot(of: root, layout) { try $0.read() }
    }

    func readForWriting(_ root: String, _ layout: DomainLayout) throws -> RootSnapshot {
        try snapshot(of: root, layout) { try $0.read(waits: true) }
    }

    @inline(__always)
    private func snapshot(
        of root: String, _ layout: DomainLayout, _ read: (PropertyListFile) throws -> PropertyListFile.Reading
    ) throws -> RootSnapshot {
        let reading = try withFile(read)
        return RootSnapshot(
            of: root, in: reading.content, layout: layout, revision: reading.revision,
            warning: reading.warning.map { PrefsError($0) })
    }

    func confirm(_ revision: Revision?, _ durability: CommitDurability) throws -> Bool {
        try withFile { try $0.confirm(revision, durability) }
    }

    func takeWarning() -> FileError? {
        try? withFile { $0.takeWarning() }
    }

    func forget() {
        try? withFile { $0.forget() }
    }

    func subscribe(
        to part: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try subscribe(to: part, subscriber, from: known)
    }
}
