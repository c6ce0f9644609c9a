import Foundation
package import PrefsPropertyLists

/// A path that a user gave, and the file that it leads to now.
package final class FileLocation {
    package let path: String
    let system: SystemCalls
    private let root: PropertyListFile.Root
    private let configure: @Sendable (PropertyListFile) -> Void
    private let resolved = Locked<(file: PropertyListFile, followsLinks: Bool)?>(nil)

    /// - Parameters:
    ///   - path: absolute.
    ///   - configure: called with each file that the path turns out to lead to.
    package init(
        path: String, holds root: PropertyListFile.Root = .domain, system: SystemCalls = .real,
        configure: @escaping @Sendable (PropertyListFile) -> Void = { _ in }
    ) {
        self.path = path
        self.root = root
        self.system = system
        self.configure = configure
    }

    /// Whether the path contained a link when it was last resolved.
    var followsLinks: Bool {
        resolved.withLock { $0?.followsLinks ?? false }
    }

    /// Runs the closure with the file at the path. Runs it once more with another file if a link changed in between.
    package func withFile<R>(_ body: (PropertyListFile) throws -> R) throws -> R {
        for _ in 0..<40 {
            do {
                return try body(try file())
            } catch FileError.pathChanged {
                resolved.withLock { $0 = nil }
            }
        }
        throw FileError.unreadable(StorageFailure("open", path, code: ELOOP))
    }

    /// Runs the body, in which writes of this process also replace a malformed file; see
    /// `PropertyListFile.replacingMalformedFile`.
    package func replacingMalformedFile<R>(isForeign: Bool = false, _ body: () throws -> R) throws -> R {
        try file().replacingMalformedFile(isForeign: isForeign, body)
    }

    /// The revision of the current state; nil also if the path contains a link.
    package var revision: Revision? {
        guard let file = resolved.withLock({ $0.flatMap { $0.followsLinks ? nil : $0.file } }),
            file.queue.transaction == nil, let known = file.cachedWithoutReport,
            known.validated(atPath: file.names.path) === known
        else { return nil }
        return known.revision
    }

    /// The file that the path leads to. Costs no system call, or one `stat` if the path contains a link.
    private func file() throws -> PropertyListFile {
        if let (file, followsLinks) = resolved.withLock({ $0 }) {
            if !followsLinks { return file }
            if let committed = file.cached?.status,
                let status = try? system.status(ofPath: path, followsLinks: true), status.isSameFile(as: committed)
            {
                return file
            }
        }
        do {
            let resolution = try PathResolution(path, system: system)
            let file = FileRegistry.shared.file(at: resolution.target, holds: root, system: system)
            configure(file)
            resolved.withLock { $0 = (file, !resolution.links.isEmpty) }
            return file
        } catch {
            throw FileError.unreadable(error)
        }
    }
}

extension FileLocation: Domain {
    package var transaction: Transaction? {
        // Only a path that was resolved can have a transaction.
        resolved.withLock { $0?.file }?.queue.transaction
    }

    package func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        try withFile { try $0.read(waits: isForWriting) }
    }

    package func transact(
        on root: String = "", durability: CommitDurability, _ body: (Transaction) throws -> Void
    ) throws {
        try withFile { file in
            try file.queue.transact(
                durability: durability, lock: file.names.path(of: file.names.lock), begin: file.begin, body)
        }
    }

    package func confirm(_ revision: Revision?, _ durability: CommitDurability) throws -> Bool {
        try withFile { try $0.confirm(revision, durability) }
    }

    package func takeWarning() -> FileError? {
        try? withFile { $0.takeWarning() }
    }

    package var form: ValueForm { (try? file().form) ?? .exact }

    package func forget() {
        try? withFile { $0.forget() }
    }

    /// Subscribes to a part of the file that the path leads to. Follows later changes of links on the path.
    package func subscribe(
        to part: DomainPart, _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try FileSubscriber(self, part.name, subscriber).start(from: known)
    }
}
