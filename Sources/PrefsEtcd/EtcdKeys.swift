import Foundation
import PersistentPreferences

/// The names of the keys of a namespace. `PREFIXr/ROOT` is the JSON of a root, `PREFIXl/CLIENT` a ticket for the lock, and
/// `PREFIXm/CLIENT` the marker of a client: the identifier of its last transaction.
struct EtcdKeys: Sendable {
    let prefix: String
    /// What the keys of each kind begin with.
    let roots, tickets, markers: Data

    init(prefix: String) {
        self.prefix = prefix
        (roots, tickets, markers) = (Data("\(prefix)r/".utf8), Data("\(prefix)l/".utf8), Data("\(prefix)m/".utf8))
    }

    /// Two spellings of a name that Unicode calls equal are one root, as everywhere in the package.
    func root(_ name: String) -> Data {
        // Foundation takes long, also for ASCII, of which there is one spelling.
        roots + (name.utf8.allSatisfy { $0 < 0x80 } ? name : name.precomposedStringWithCanonicalMapping).utf8
    }
    func ticket(_ client: String) -> Data { tickets + client.utf8 }
    func marker(_ client: String) -> Data { markers + client.utf8 }

    /// The marker of the client whose ticket this is; nil if it is no ticket. A ticket has a lease, and no `/` in the name of its client:
    /// other programs, and stores with a longer prefix, may have keys below the same prefix.
    func marker(ofTicket found: EtcdKeyValue) -> Data? {
        let client = found.key.dropFirst(tickets.count)
        guard found.lease != 0, !client.contains(UInt8(ascii: "/")) else { return nil }
        return markers + client
    }

    /// The root that a key of the range of roots is. A name that is not UTF-8, or not in our spelling, is not the name of a root.
    func root(ofKey key: Data) -> String? {
        let name = String(decoding: key.dropFirst(roots.count), as: UTF8.self)
        return root(name) == key ? name : nil
    }
}

/// Errors of a namespace.
extension EtcdKeys {
    func notStored(_ reason: String) -> PrefsError { .notStored(failure(reason)) }

    func unreadable(_ root: String, _ reason: String) -> PrefsError {
        .unreadable(StorageFailure(path: "etcd key \(prefix)r/\(root)", reason: reason))
    }

    func failure(_ reason: String) -> StorageFailure { StorageFailure(path: "etcd \(prefix)", reason: reason) }

    func failure(_ failure: EtcdFailure) -> StorageFailure {
        StorageFailure(path: "etcd \(failure.endpoint)", reason: failure.reason)
    }
}
