import PersistentPreferences
import PrefsStoreKit

/// A backend that has the public requirements and nothing else. A closure may run before each read or update, with the
/// root key.
final class ForeignBackend: PrefsBackend {
    typealias Step = @Sendable (_ root: String) throws -> Void

    private let inner: PrefsStore
    private let beforeRead: Step
    private let beforeUpdate: Step

    init(
        _ store: PrefsStore = .memory(), beforeRead: @escaping Step = { _ in },
        beforeUpdate: @escaping Step = { _ in }
    ) {
        (inner, self.beforeRead, self.beforeUpdate) = (store, beforeRead, beforeUpdate)
    }

    func read(root: String) throws -> [String: Any]? {
        try beforeRead(root)
        return try inner.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try beforeUpdate(root)
        try inner.update(root: root, body)
    }
}

extension PrefsBackend {
    /// A store over the backend.
    var store: PrefsStore { .backend(self) }
}

/// What another program does once, in the middle of an access.
final class Interruption: @unchecked Sendable {
    private let body: Locked<(() throws -> Void)?>

    init(_ body: (() throws -> Void)? = nil) { self.body = Locked(body) }

    func set(_ body: @escaping () throws -> Void) { self.body.withLock { $0 = body } }

    func runOnce() throws {
        let body = self.body.withLock { body in
            defer { body = nil }
            return body
        }
        try body?()
    }
}
