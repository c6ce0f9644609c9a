// The remote backend of the article "Writing a store", verbatim; `ServerBackendTests` runs every check over it.

import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit

/// The client of your server, which keeps data under keys and counts their versions.
nonisolated protocol Server: Sendable {
    /// The data of a key and its version; nil if there is none.
    func get(_ key: String) throws -> (data: Data, version: Int)?
    /// Stores or removes all keys in one transaction, if each key still has its version, 0 if
    /// it is missing.
    /// - Returns: the new version; nil if a key has another one.
    func put(
        _ changes: [String: Data?], ifVersions versions: [String: Int]
    ) throws -> Int?
}

final class ServerBackend: RemotePrefsBackend, @unchecked Sendable {
    private let server: any Server
    /// Held by the thread whose update runs.
    private let turn = NSRecursiveLock()
    private var session: Session?
    private let lock = NSLock()
    private var known: [String: Stored] = [:]

    private struct Stored {
        var version = 0
        var data: Data?
        var values: [String: Any]?
    }

    /// An update: the roots as the server had them, and what the body makes of them. The store
    /// in memory checks, joins and rolls back.
    private final class Session {
        let memory = PrefsStore.memory()
        var found: [String: Stored] = [:]
        var written: Set<String> = []
    }

    init(_ server: any Server) {
        self.server = server
    }

    func read(root: String) throws -> [String: Any]? {
        try current(root: root)
    }

    func current(root: String) throws -> [String: Any]? {
        try PrefsError.checkRootKey(root)
        guard let session = ownSession else { return try fetch(root).values }
        try load(root, into: session)
        return try session.memory.read(root: root)
    }

    func lastKnown(root: String) -> [String: Any]? {
        lock.withLock { known[root]?.values }
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try PrefsError.checkRootKey(root)
        turn.lock()
        defer { turn.unlock() }
        if let session { return try update(root, in: session, body) }
        let session = Session()
        self.session = session
        defer { self.session = nil }
        // Leaves its root alone. What joins it is rolled back with it, also if the body
        // catches the error.
        try session.memory.update(root: root) { _ in try update(root, in: session, body) }
        try commit(session)
    }

    /// The update whose body this thread runs.
    private var ownSession: Session? {
        guard turn.try() else { return nil }
        defer { turn.unlock() }
        return session
    }

    private func update(
        _ root: String, in session: Session, _ body: (inout [String: Any]?) throws -> Void
    ) throws {
        try load(root, into: session)
        session.written.insert(root)
        try session.memory.update(root: root, body)
    }

    private func load(_ root: String, into session: Session) throws {
        if session.found[root] != nil { return }
        // Inside of an update, so that a failure ends it.
        try session.memory.update(root: root) { values in
            let stored = try fetch(root)
            session.found[root] = stored
            values = stored.values
        }
    }

    private func fetch(_ root: String) throws -> Stored {
        do {
            guard let (data, version) = try server.get(root) else {
                return remember(Stored(), of: root)
            }
            // The same dictionary as before, which instances need not convert again.
            if let stored = lock.withLock({ known[root] }), stored.version == version {
                return stored
            }
            let values = try ExportFormat.dictionary(from: data)
            let stored = Stored(version: version, data: data, values: values)
            return remember(stored, of: root)
        } catch {
            throw PrefsError.unreadable(StorageFailure(path: root, reason: "\(error)"))
        }
    }

    @discardableResult
    private func remember(_ stored: Stored, of root: String) -> Stored {
        lock.withLock { known[root] = stored }
        return stored
    }

    private func commit(_ session: Session) throws {
        var results: [String: Stored] = [:]
        for root in session.written {
            let values = try session.memory.read(root: root)
            let data = try values.map { try ExportFormat.json.data(of: $0) }
            // Equal roots have equal bytes.
            if data == session.found[root]?.data { continue }
            results[root] = Stored(data: data, values: values)
        }
        if results.isEmpty { return }
        let version: Int?
        do {
            version = try server.put(
                results.mapValues(\.data), ifVersions: session.found.mapValues(\.version))
        } catch {
            throw PrefsError.outcomeUnknown(
                StorageFailure(path: "server", reason: "\(error)"))
        }
        guard let version else {
            throw PrefsError.notStored(
                StorageFailure(path: "server", reason: "another client has changed a root"))
        }
        for (root, var stored) in results {
            if stored.data != nil { stored.version = version }
            remember(stored, of: root)
        }
    }
}
