import PrefsFileEngine
import PrefsPropertyLists

/// The closures of `onError` of one instance.
///
/// Each closure gets a problem once: those that stand when it begins, and each that begins later. A problem that has ended
/// is told again if it returns. So the instance looks at its problems when its root, its layers or the fault of its file
/// change, as long as it has a closure. What an access meets, and has been told, is not told again; each rejected write is.
final class ErrorHandlers: FaultListener {
    private typealias Action = @Sendable (PrefsError) -> Void

    private struct Handler {
        let number: Int
        let action: Action
        /// The problems that stand and that it was told of.
        var told: Set<PrefsProblem> = []
        /// Those that the last read or look that ended some has ended.
        var ended: Set<PrefsProblem> = []
    }

    /// A number of changes by accesses of what closures were told. What was found before one of them may be out of date.
    private typealias Moment = Int

    private struct State {
        /// The instance; nil once it is being released.
        weak var owner: (any ObservedInstance)?
        var handlers: [Handler] = []
        var handlersSoFar = 0
        var subscription: EntrySubscription?
        /// The number of looks that are due, or under way.
        var looks = 0
        var moment: Moment = 0

        var hasTold: Bool { handlers.contains { !$0.told.isEmpty } }
    }

    private let state = Locked(State())

    // MARK: - Begin and end

    /// Adds a closure, and calls it with each problem that stands.
    ///
    /// - Returns: the number by which it is removed.
    func add(_ action: @escaping @Sendable (PrefsError) -> Void, of owner: any ObservedInstance) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.owner = owner
            state.handlersSoFar += 1
            state.handlers.append(Handler(number: state.handlersSoFar, action: action))
            return (state.handlersSoFar, state.handlers.count == 1)
        }
        // Watches first, so that no change is between the watch and the look.
        if isFirst { watch(owner) }
        tellProblems(of: owner, only: number)
        return number
    }

    func remove(_ number: Int) {
        let subscription = state.withLock { state -> EntrySubscription? in
            state.handlers.removeAll { $0.number == number }
            guard state.handlers.isEmpty else { return nil }
            defer { state.subscription = nil }
            return state.subscription
        }
        subscription?.end()
    }

    private func watch(_ owner: any ObservedInstance) {
        guard let root = try? Root(owner.key, of: owner.observers) else { return }
        let observed = ObservedRoot(root, of: owner.observers, allowed: owner.allowed, keys: nil)
        let declared = root.instance.declarations
        let mayBegin = !declared.rules.isEmpty || declared.declarations.contains(where: \.property.isRequired)
        let delivery = EntryObserver.Delivery.signal { [weak self] isForeign in
            // A write of this process may end a problem. None of its values is one, but a required one may be removed.
            guard let self, isForeign || hasTold || mayBegin else { return nil }
            return beginLook(at: observed)
        }
        let subscriber = RootSubscriber(observed, delivery) { [weak self] _ in self?.beginLook(at: observed) }
        // If the subscription fails, the problems of the instance say why.
        guard let subscription = try? subscriber.start() else { return }
        let isOver = state.withLock { state in
            if !state.handlers.isEmpty { state.subscription = subscription }
            return state.handlers.isEmpty
        }
        if isOver { subscription.end() }
    }

    // MARK: - Telling

    /// Tells each closure of an error that an access has met.
    ///
    /// - Parameter isOnce: whether a closure that was told of its problems is not called.
    func tell(_ error: PrefsError, isOnce: Bool, _ owner: any ObservedInstance) {
        let problems = isOnce ? error.problems : []
        // What has ended may have ended after the access met it, and may be back. The instance knows.
        let hasEnded = state.withLock { $0.handlers.contains { !$0.ended.isDisjoint(with: problems) } }
        let isOver = hasEnded && !Set(owner.problems(waits: false)).isSuperset(of: problems)
        let numbers = state.withLock { state in
            let numbers = state.handlers.indices.filter { index in
                let handler = state.handlers[index]
                let known = isOver ? handler.told.union(handler.ended) : handler.told
                if isOnce, known.isSuperset(of: problems) { return false }
                state.handlers[index].told.formUnion(problems)
                state.handlers[index].ended.subtract(problems)
                return true
            }.map { state.handlers[$0].number }
            if !problems.isEmpty, !numbers.isEmpty { state.moment += 1 }
            return numbers
        }
        for number in numbers { action(number)?(error) }
    }

    /// Looks at the problems, and tells the closures of those that they were not told of.
    ///
    /// - Parameter only: the number of the closure; nil for all.
    private func tellProblems(of owner: any ObservedInstance, only: Int? = nil) {
        while true {
            let moment = state.withLock(\.moment)
            if tell(owner.problems(waits: false), at: moment, only: only, owner) { return }
        }
    }

    /// - Returns: false if what was found is out of date.
    private func tell(_ problems: [PrefsProblem], at moment: Moment, only: Int?, _ owner: any ObservedInstance) -> Bool
    {
        let news = state.withLock { state -> [(Int, PrefsError)]? in
            guard state.moment == moment else { return nil }
            return state.handlers.indices.filter { only == nil || state.handlers[$0].number == only }.flatMap { index in
                let told = state.handlers[index].told
                let ended = told.subtracting(problems)
                if !ended.isEmpty { state.handlers[index].ended = ended }
                state.handlers[index].told = Set(problems)
                return problems.filter { !told.contains($0) }.map { (state.handlers[index].number, $0.error) }
            }
        }
        guard let news else { return false }
        guard !news.isEmpty else { return true }
        let call: @Sendable () -> Void = { for (number, error) in news { self.action(number)?(error) } }
        // A closure that adds another one is not called within itself.
        let subject = ObjectIdentifier(owner)
        if !FailureHandler.run(for: subject, call) {
            WorkerThreads.observers.run { FailureHandler.run(for: subject, call) }
        }
        return true
    }

    /// Looked up by number, because one closure may end another.
    private func action(_ number: Int) -> Action? {
        state.withLock { $0.handlers.first { $0.number == number }?.action }
    }

    /// Forgets problems that a read has just not met. For a store without revisions, no look may show that they have ended.
    /// A warning stays: it tells of classes, which no read changes.
    ///
    /// - Parameter key: nil for problems of the store.
    func forget(_ key: String?) {
        state.withLock { state in
            for index in state.handlers.indices {
                let ended = state.handlers[index].told.filter { problem in
                    problem.source == .stored && !problem.error.isWarning
                        && (key == nil ? problem.kind == .store : problem.topLevelKey == key)
                }
                if ended.isEmpty { continue }
                state.moment += 1
                state.handlers[index].told.subtract(ended)
                state.handlers[index].ended = ended
            }
        }
    }

    /// Whether a closure was told of a problem that has not ended, as far as the instance has looked.
    var hasTold: Bool { state.withLock { $0.hasTold } }

    // MARK: - Looking

    /// Looks at the problems soon, on a thread of its own: the program may not run its main queue.
    ///
    /// - Returns: what the caller must run when it holds no lock, because no thread can be started; otherwise nil.
    private func beginLook(at root: ObservedRoot) -> (@Sendable () -> Void)? {
        let isFirst = state.withLock { state in
            state.looks += 1
            return state.looks == 1
        }
        return isFirst ? WorkerThreads.observers.begin { [weak self] in self?.look(at: root) } : nil
    }

    private func look(at root: ObservedRoot) {
        while true {
            let looks = state.withLock { $0.looks }
            if let owner = state.withLock(\.owner) {
                root.inItsStore {
                    // While a program saves the file, nothing is known; the feed looks again.
                    if !owner.isFileBeingSaved { tellProblems(of: owner) }
                }
            }
            let isDone = state.withLock { state in
                guard state.looks == looks else { return false }
                state.looks = 0
                return true
            }
            if isDone { return }
        }
    }
}
