/// What the stores of this package tell the base class beyond the public contract.
protocol ReportingStore: PrefsStore {
    /// The root, and besides something that has to be reported although the read succeeded. Throws where it did not.
    func readReporting(root: String) throws -> (values: [String: Any]?, notice: PrefsError?)

    /// Makes the committed state as sure to last as this store promises, where it is not yet: an equal write is
    /// acknowledged too.
    func confirm() throws

    /// Drops what is cached.
    func forget()

    /// Rolls back the update that is under way on this thread, if one is: a write in it was refused before it came here.
    func refuse(_ error: PrefsError, root: String)
}

extension ReportingStore {
    func read(throughReporting root: String) throws -> [String: Any]? {
        let (values, notice) = try readReporting(root: root)
        if let notice { throw notice }
        return values
    }

    func confirm() {}

    func forget() {}

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
    }
}

/// Makes any store a reporting one.
final class PlainStore: ReportingStore {
    private let store: any PrefsStore

    init(_ store: any PrefsStore) {
        self.store = store
    }

    func readReporting(root: String) throws -> (values: [String: Any]?, notice: PrefsError?) {
        (try store.read(root: root), nil)
    }

    func read(root: String) throws -> [String: Any]? {
        try store.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
        // The store has its own idea of what is under way; an update that throws is how it hears.
        try? store.update(root: root) { _ in throw error }
    }
}
