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

    /// Lets a listener hear of each commit that changes the root, in order.
    ///
    /// - Parameters:
    ///   - keys: those that the listener asks for, which may not exist yet. The listener may be told of other keys, too.
    ///   - known: what the listener knows of it from elsewhere; it is told of the difference first.
    func follow(
        root: String, keys: [String], _ listener: any EntryListener, from known: LastKnownEntry?
    ) throws -> any Following

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

    /// `PrefsStore.observe` by `follow`.
    func observation(
        root: String, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws -> PrefsObservation {
        let observer = CallbackObserver(on: nil) {
            action(PrefsChange(root: root, $0.difference, isForeign: $0.isForeign, count: $0.count))
        }
        let following = try follow(root: root, keys: [], observer, from: nil)
        if let failure = following.subscriptionStart.failure { throw PrefsError.notWatched(failure) }
        return PrefsObservation {
            following.end()
            observer.end()
        }
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
    }
}
