/// What a store of this package gives the base class for a read.
struct RootReading {
    let values: [String: Any]?
    /// Something to report although the read succeeded.
    var notice: PrefsError?
    /// Whether the state is as sure to last as the store promises, so that an equal write has nothing left to do.
    var isConfirmed = true
}

/// What the stores of this package tell the base class beyond the public contract.
protocol ReportingStore: PrefsStore {
    /// The root, and what there is to say of it.
    func readReporting(root: String) throws -> RootReading

    /// Makes the committed state as sure to last as this store promises: an equal write is acknowledged too.
    func confirm() throws

    /// Drops what is cached.
    func forget()

    /// Rolls back the update that is under way on this thread, if one is: a write in it was refused before it came here.
    func refuse(_ error: PrefsError, root: String)
}

extension ReportingStore {
    func read(throughReporting root: String) throws -> [String: Any]? {
        let reading = try readReporting(root: root)
        if let notice = reading.notice { throw notice }
        return reading.values
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

    func readReporting(root: String) throws -> RootReading {
        RootReading(values: try store.read(root: root))
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
