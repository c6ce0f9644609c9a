import Foundation
import PersistentPreferences
import PrefsFileEngine

/// The names of the keys of a namespace. `PREFIXr/ROOT` is the JSON of a root, `PREFIXl/CLIENT` a ticket for the lock, and
/// `PREFIXm/CLIENT` the marker of a client: the identifier of its last transaction.
struct EtcdKeys: Sendable {
    let prefix: String

    /// Two spellings of a name that Unicode calls equal are one root, as everywhere in the package.
    func root(_ name: String) -> Data {
        Data((prefix + "r/" + name.precomposedStringWithCanonicalMapping).utf8)
    }
    func ticket(_ client: String) -> Data { Data((prefix + "l/" + client).utf8) }
    func marker(_ client: String) -> Data { Data((prefix + "m/" + client).utf8) }

    var roots: Data { Data((prefix + "r/").utf8) }
    var tickets: Data { Data((prefix + "l/").utf8) }
    var markers: Data { Data((prefix + "m/").utf8) }

    /// What a key is; nil if it is none of ours.
    enum Kind {
        case root(String)
        case ticket
        case marker
    }

    func kind(of key: Data) -> Kind? {
        if key.starts(with: roots) {
            // A name that is not UTF-8, or not in our spelling, is not the name of a root.
            guard let name = String(bytes: key.dropFirst(roots.count), encoding: .utf8), root(name) == key else {
                return nil
            }
            return .root(name)
        }
        return key.starts(with: tickets) ? .ticket : key.starts(with: markers) ? .marker : nil
    }
}

/// Errors of a namespace.
extension EtcdKeys {
    func notStored(_ reason: String) -> PrefsError { .notStored(failure(reason)) }

    func failure(_ reason: String) -> StorageFailure { StorageFailure(path: "etcd \(prefix)", reason: reason) }

    func failure(_ failure: EtcdFailure) -> StorageFailure {
        StorageFailure(path: "etcd \(failure.endpoint)", reason: failure.reason)
    }
}
