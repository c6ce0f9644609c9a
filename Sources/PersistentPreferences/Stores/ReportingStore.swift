/// What a store of this package gives the base class for a read: the domain, of which the root is taken when it is needed.
struct RootReading {
    private let content: Transaction.Content?
    private let root: String
    /// nil where the same content cannot be told from another but by looking at it.
    var revision: Revision?
    /// Something to report although the read succeeded.
    var notice: PrefsError?
    /// Whether the state is as sure to last as the store promises, so that an equal write has nothing left to do.
    var isConfirmed = true

    init(
        of root: String, in content: Transaction.Content?, revision: Revision? = nil, notice: PrefsError? = nil,
        isConfirmed: Bool = true
    ) {
        self.content = content
        self.root = root
        self.revision = revision
        self.notice = notice
        self.isConfirmed = isConfirmed
    }

    /// - Throws: `PrefsError.rootIsNotDictionary`.
    func values() throws(PrefsError) -> [String: Any]? {
        try Transaction.dictionary(of: root, in: content)
    }
}

/// What the stores of this package tell the base class beyond the public contract.
protocol ReportingStore: PrefsStore {
    /// The root, and what there is to say of it.
    func readReporting(root: String) throws -> RootReading

    /// Makes the committed state as sure to last as this store promises: an equal write is acknowledged too.
    func confirm() throws

    /// Drops what is cached.
    func forget()

    /// Lets a listener hear of each commit that changes the root, in order.
    ///
    /// - Parameter heard: what the listener knows of it from elsewhere; it is told of the difference first.
    func follow(root: String, _ listener: any EntryListener, from heard: HeardEntry?) throws -> any Following

    /// Rolls back the update that is under way on this thread, if one is: a write in it was refused before it came here.
    func refuse(_ error: PrefsError, root: String)
}

extension ReportingStore {
    func read(throughReporting root: String) throws -> [String: Any]? {
        let reading = try readReporting(root: root)
        if let notice = reading.notice { throw notice }
        return try reading.values()
    }

    func confirm() {}

    func forget() {}

    /// `PrefsStore.observe` by `follow`.
    func observation(
        root: String, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws -> PrefsObservation {
        let observer = CallbackObserver(on: nil) {
            action(PrefsChange(root: $0.root, $0.difference, isForeign: $0.isForeign, count: $0.count))
        }
        let following = try follow(root: root, observer, from: nil)
        if let failure = following.seat.failure { throw PrefsError.notWatched(failure) }
        return PrefsObservation {
            following.end()
            observer.end()
        }
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
    }
}
