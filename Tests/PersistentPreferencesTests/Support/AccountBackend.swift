// The backend of the article "Writing a store", verbatim; `AccountBackendTests` runs every check over it.

import PersistentPreferences
import PrefsStoreKit

final class AccountBackend: PrefsBackend {
    private let account: String
    private let inner: PrefsStore

    init(account: String, in inner: PrefsStore) {
        self.account = account
        self.inner = inner
    }

    // The account comes last, so that an invalid root key stays invalid.
    private func key(_ root: String) -> String {
        root.isEmpty ? "" : "\(root)@\(account)"
    }

    func read(root: String) throws -> [String: Any]? {
        try inner.read(root: key(root))
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try inner.update(root: key(root), body)
    }

    func observe(
        root: String, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws -> PrefsObservation {
        try inner.observe(root: key(root)) { change in
            let own = PrefsChange(
                root: root, from: change.oldValues, to: change.newValues,
                origin: change.origin)
            if let own { action(own) }
        }
    }
}
