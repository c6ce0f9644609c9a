package import PersistentPreferences

/// An access that blocks its thread: a read, or an operation that writes 5 under a key, or removes it.
package enum AccessKind: CaseIterable, Equatable {
    case read, all, count, flush
    case write(WriteOperation)

    package var isRead: Bool { if case .write = self { false } else { true } }

    package static let allCases =
        [read, all, count, flush]
        + WriteOperation.of(.instance).filter { !$0.isAsync && $0 != .initializer }.map(AccessKind.write)

    /// Runs the access. Returns whether it has found something, or has written without an error.
    @discardableResult package func run(on prefs: PersistentPrefs, key: String = "a") -> Bool {
        switch self {
        case .read: return prefs[key] != nil
        case .all: return !prefs.values.isEmpty
        case .count: return prefs.visibleCount() > 0
        case .flush: prefs.reload()
        case .write(let operation):
            return WriteTarget(prefs, key: key) { 5 }.performBlocking(operation) == nil
        }
        return false
    }
}
