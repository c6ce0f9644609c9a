import Foundation
import PersistentPreferences

/// The names of the keys of a namespace.
///
/// `PREFIXr/ROOT` is the JSON of a root, `PREFIXl/ROOT/CLIENT` a ticket for its lock, where ROOT has `%2F` in place of each slash, and
/// `PREFIXc/CLIENT` the marker of a client: the identifier of its last transaction. `PREFIXv` names the protocol of those who write.
struct EtcdKeys: Sendable {
    let prefix: String
    /// What the keys of all roots begin with.
    let roots: Data
    let version: Data

    init(prefix: String) {
        self.prefix = prefix
        (roots, version) = (Data("\(prefix)r/".utf8), Data("\(prefix)v".utf8))
    }

    /// Two spellings of a name that Unicode calls equal are one root, as everywhere in the package.
    private func spelled(_ name: String) -> String.UTF8View {
        // Foundation takes long, also for ASCII, of which there is one spelling.
        (name.utf8.allSatisfy { $0 < 0x80 } ? name : name.precomposedStringWithCanonicalMapping).utf8
    }

    func root(_ name: String) -> Data { roots + spelled(name) }
    /// What the tickets of a root begin with.
    func tickets(_ root: String) -> Data {
        // Replaced, so that the tickets of no other root begin with it.
        let hasSlash = root.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }
        let name = hasSlash ? root.replacing("%", with: "%25").replacing("/", with: "%2F") : root
        return Data("\(prefix)l/".utf8) + spelled(name) + "/".utf8
    }
    func ticket(_ client: String, of root: String) -> Data { tickets(root) + client.utf8 }
    var markers: Data { Data("\(prefix)c/".utf8) }
    func marker(_ client: String) -> Data { markers + client.utf8 }

    /// Whether a key of the range is a ticket. A ticket has a lease, and no `/` in the name of its client: other programs, and stores with
    /// a longer prefix may have keys in the same range.
    func isTicket(_ found: EtcdKeyValue, of root: String) -> Bool {
        found.lease != 0 && !found.key.dropFirst(tickets(root).count).contains(UInt8(ascii: "/"))
    }

    /// The root that a key of the range of roots is. A name that is not UTF-8, or not in our spelling, is not the name of a root.
    func root(ofKey key: Data) -> String? {
        guard key.starts(with: roots) else { return nil }
        let name = String(decoding: key.dropFirst(roots.count), as: UTF8.self)
        return root(name) == key ? name : nil
    }
}

/// The protocol of the keys: which transactions a client sends, and what they compare.
enum EtcdProtocol {
    /// The first one, a queue for the whole prefix, put no key.
    static let current = Data("2".utf8)

    /// The failure of a client that may not write, because those who write use another protocol.
    static func failure(_ found: Data) -> EtcdFailure {
        let found = String(decoding: found.prefix(20), as: UTF8.self)
        return EtcdFailure("expected protocol 2 in the key v of the prefix, found \(found); update this program")
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
