import PrefsFileEngine

/// What the stores of this package tell the base class beyond the public contract.
protocol ReportingStore: PrefsStore {
    var layout: DomainLayout { get }

    /// The root, and what there is to say of it.
    func readReporting(root: String) throws -> RootSnapshot

    /// An update whose body gives what to store in canonical form, vetted; nil leaves the root as it is.
    func replace(root: String, _ body: ([String: Any]?) throws -> [String: Any]?) throws

    /// A warning of a write that has succeeded; returned once.
    func takeWarning() -> PrefsError?

    /// Makes the committed state as sure to last as this store promises: an equal write is acknowledged too.
    func confirm() throws

    /// Drops what is cached.
    func forget()

    /// Subscribes to each commit that changes the root, in order.
    ///
    /// - Parameters:
    ///   - keys: those that the subscriber asks for, which may not exist yet. It may receive changes of other keys, too.
    ///   - known: what the subscriber knows of it from elsewhere; it receives the difference first.
    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription

    /// Rolls back the update that is under way on this thread, if one is: a write in it was refused before it came here.
    func refuse(_ error: PrefsError, root: String)
}

extension ReportingStore {
    func read(throughReporting root: String) throws -> [String: Any]? {
        let reading = try readReporting(root: root)
        // A warning of an earlier write is not about this state.
        if let warning = reading.warning, !warning.isWarning { throw warning }
        return try reading.values()
    }

    var layout: DomainLayout { .roots }

    func takeWarning() -> PrefsError? { nil }

    func confirm() {}

    func forget() {}

    /// `PrefsStore.observe` by `subscribe`.
    func observation(
        root: String, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws -> PrefsObservation {
        let observer = CallbackObserver(on: nil) {
            action(PrefsChange(root: root, $0.difference, isForeign: $0.isForeign, count: $0.count))
        }
        let subscription = try subscribe(to: root, keys: [], observer, from: nil)
        if let failure = subscription.failure { throw PrefsError.notWatched(failure) }
        return PrefsObservation {
            subscription.end()
            observer.end()
        }
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
    }
}
