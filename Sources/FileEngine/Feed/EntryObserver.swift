import Dispatch
package import PrefsPropertyLists

/// An observer of one entry: what it sees of it, what it was told of last, and the changes that wait for it, in the order of the
/// commits.
///
/// A feed or a store puts changes in under its own lock, which runs no other code. What remains to be done is an action, which
/// runs once no lock is held. The observer may move to another entry: it then gets the difference to what it was told of last.
package final class EntryObserver: Sendable {
    package typealias Action = @Sendable () -> Void

    /// How an observer gets its changes. Nothing is called under a lock.
    package enum Delivery: Sendable {
        /// Changes wait until they are taken. The closure is called for each, and must return at once. It returns what must run
        /// on the thread that made the change, or on the main queue for a foreign change.
        case waiting(@Sendable () -> Action?)
        /// Each change is passed on the thread that made it; a foreign one on the main queue.
        case each(@Sendable (EntryChange) -> Void)
        /// Nothing is kept. The closure is called at each change, and must return at once. It returns what `waiting` does.
        case signal(@Sendable (_ isForeign: Bool) -> Action?)
    }

    /// What it sees of the entry; nil for all.
    let seen: SeenMembers?
    /// Told once of a fault of the domain, however many observers it has.
    let reader: ObjectIdentifier?
    private let delivery: Delivery
    private let faultHandler: @Sendable (FileError?) -> Action?
    private let state: Locked<State>

    private struct State {
        /// The key of changes of a domain that is one entry, whose own key is empty.
        var root = ""
        /// The entry that it was told of last, as far as it sees it; nil before it has begun.
        var last: EntryState?
        var context: (any EntryContext)?
        /// Whether its next entry is another one because of an assignment in this process.
        var movesByAssignment = false
        var waiting = WaitingChanges()
    }

    /// - Parameters:
    ///   - seen: what it sees of the entry; nil for all.
    ///   - root: the key of its changes if the domain is one entry, whose own key is empty.
    ///   - reader: the object that is told of a fault once; nil for the observer itself.
    ///   - fault: called without a lock if the domain is malformed or cannot be read, once for each reason; with nil when it
    ///     can be read again. It must return at once. What it returns runs once no lock is held.
    package init(
        of seen: SeenMembers? = nil, in root: String = "", _ delivery: Delivery, reader: AnyObject? = nil,
        fault: @escaping @Sendable (FileError?) -> Action? = { _ in nil }
    ) {
        (self.seen, self.delivery, faultHandler) = (seen, delivery, fault)
        self.reader = reader.map { ObjectIdentifier($0) }
        state = Locked(State(root: root))
    }

    /// The first waiting change. It does not wait any more.
    package func takeFirst() -> EntryChange? { state.withLock { $0.waiting.popFirst() } }

    package var hasWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    // MARK: - For feeds and stores

    /// Whether it knows an entry, so that it gets the difference to the next one.
    var hasBegun: Bool { state.withLock { $0.last != nil } }

    /// Notes that this process has assigned the root that the observer moves to: the move is no foreign change.
    package func moveByAssignment(to root: String) {
        state.withLock { ($0.root, $0.movesByAssignment) = (root, true) }
    }

    /// Starts from an entry. Also called when the observer moves to another one, or when its entry is known at last.
    ///
    /// - Returns: what must run once no lock is held.
    package func begin(at start: StoredValue?, of key: String) -> Action? { told(of: start, key)?.run }

    /// As `begin`, for a feed, which tells several observers.
    func told(of start: StoredValue?, _ key: String) -> Told? {
        state.withLock { state in
            let isForeign = !state.movesByAssignment
            state.movesByAssignment = false
            if state.last != nil { return put(start, of: key, isForeign: isForeign, &state) }
            state.last = part(start, in: state.context)
            return nil
        }
    }

    /// Takes a change, reduced to what it sees.
    ///
    /// - Returns: what must run once no lock is held.
    func put(_ change: EntryChange) -> Told? {
        state.withLock { put(change.around(in: $0.context), &$0) }
    }

    /// Takes the next state of the entry, which may equal the last one.
    package func put(_ next: StoredValue?, of key: String, isForeign: Bool) -> Action? {
        state.withLock { put(next, of: key, isForeign: isForeign, &$0) }?.run
    }

    /// Sets what is around the entry that the observer begins with, or moves to.
    package func enter(_ context: any EntryContext) {
        state.withLock { $0.context = context }
    }

    /// Takes what is around the entry now.
    package func put(_ context: any EntryContext, of key: String) -> Action? {
        state.withLock { state in
            state.context = context
            return state.last.flatMap { put($0.value, of: key, isForeign: true, &state) }
        }?.run
    }

    private func part(_ value: StoredValue?, in context: (any EntryContext)?) -> EntryState {
        let whole = EntryState(value, in: context)
        guard let seen, seen.shape.isThat(of: whole) else { return whole }
        return whole.part(seen.keys)
    }

    private func put(_ next: StoredValue?, of key: String, isForeign: Bool, _ state: inout State) -> Told? {
        let change = EntryChange(
            of: key, from: state.last ?? EntryState(nil), to: part(next, in: state.context), isForeign: isForeign)
        return change.flatMap { put($0, &state) }
    }

    private func put(_ change: EntryChange, _ state: inout State) -> Told? {
        var change = change
        if change.key.isEmpty { change.key = state.root }
        state.last = change.after
        switch delivery {
        case .waiting(let wake):
            state.waiting.append(change)
            // Also if others wait: whose change is the first one may be held up before it wakes.
            return Told(isCall: false, Self.action(change.isForeign, wake))
        case .each(let body) where change.isForeign:
            // On the main queue in order, whichever thread comes first.
            state.waiting.append(change)
            return Told(
                isCall: true,
                Self.action(true) { [self] in { [self] in if let next = takeFirst() { body(next) } } })
        case .each(let body):
            return Told(isCall: true) { [change] in body(change) }
        case .signal(let body):
            let isForeign = change.isForeign
            return Told(isCall: false, Self.action(isForeign) { body(isForeign) })
        }
    }

    private static func action(_ isForeign: Bool, _ next: @escaping @Sendable () -> Action?) -> Action {
        {
            guard let rest = next() else { return }
            isForeign ? DispatchReadiness.shared.async(on: .main, rest) : rest()
        }
    }

    /// What must run once no lock is held.
    struct Told: Sendable {
        /// Whether code of the program may run in it, and may block.
        let isCall: Bool
        let run: Action

        init(isCall: Bool, _ run: @escaping Action) {
            (self.isCall, self.run) = (isCall, run)
        }
    }

    /// - Returns: what must run once no lock is held.
    func tell(fault: FileError?) -> Action? { faultHandler(fault) }
}

// MARK: - A subscription

/// A subscription of an observer, with its start value. It ends when the object is released.
package final class EntrySubscription: Sendable {
    package let observer: EntryObserver
    /// The entry that the observer starts from.
    package let start: EntryState
    /// What the caller runs once it holds no lock: the observer may have to get the difference to the entry that it knew, and
    /// a fault.
    package let catchUp: (@Sendable () -> Void)?
    /// Why changes made elsewhere are not received.
    package let failure: StorageFailure?
    private let onEnd: Locked<(@Sendable () -> Void)?>

    /// - Parameter onEnd: called once.
    package init(
        of observer: EntryObserver, start: EntryState, catchUp: (@Sendable () -> Void)? = nil,
        failure: StorageFailure? = nil, onEnd: @escaping @Sendable () -> Void
    ) {
        (self.observer, self.start, self.catchUp, self.failure) = (observer, start, catchUp, failure)
        self.onEnd = Locked(onEnd)
    }

    deinit {
        end()
    }

    /// Ends the subscription. The observer gets no commit from now on.
    package func end() {
        let onEnd = onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        onEnd?()
    }
}

// MARK: - What waits

/// Changes that an observer has not yet taken, in order. If there are too many, the newest are merged.
package struct WaitingChanges {
    package static let capacity = 1_024
    /// The most bytes that wait, apart from one change that may be larger.
    package static let byteCapacity = 2 * PropertyListLimits.rootBytes

    private var changes: [EntryChange?] = []
    private var first = 0
    private var bytes = 0

    package var isEmpty: Bool { first == changes.count }

    package init() {}

    package mutating func append(_ change: EntryChange) {
        if isEmpty || changes.count - first < Self.capacity && bytes + change.bytes <= Self.byteCapacity {
            bytes += change.bytes
            changes.append(change)
        } else {
            // Taken out of the array, so that it is changed in place.
            var last = changes.removeLast()
            bytes -= last?.bytes ?? 0
            last?.append(change)
            bytes += last?.bytes ?? 0
            changes.append(last)
        }
    }

    package mutating func popFirst() -> EntryChange? {
        guard !isEmpty else { return nil }
        defer {
            bytes -= changes[first]?.bytes ?? 0
            changes[first] = nil
            first += 1
            if isEmpty {
                self = WaitingChanges()
            } else if first == Self.capacity {
                changes.removeFirst(first)
                first = 0
            }
        }
        return changes[first]
    }
}

// MARK: - What an observer sees

/// Some members of an entry, which an observer sees alone, without the others.
package struct SeenMembers: Hashable, Sendable {
    let keys: Set<String>
    let shape: Shape

    /// The shape in which each member shows its value by itself. An observer sees the whole of an entry of another shape,
    /// because all of it has to be migrated.
    package struct Shape: Hashable, Sendable {
        private let versionKey: String?
        private let version: Int64
        private let formerKeys: Set<String>

        /// - Parameters:
        ///   - version: the member with the version, and the lowest version of the shape; nil if there are no versions.
        ///   - formerKeys: the members of earlier shapes, of which none is there.
        package init(version: (key: String, number: Int)?, formerKeys: [String]) {
            (versionKey, self.version) = (version?.key, Int64(version?.number ?? 0))
            self.formerKeys = Set(formerKeys)
        }

        /// The members that tell the shape.
        var keys: [String] { versionKey.map { [$0] } ?? [] }

        func isThat(of state: EntryState) -> Bool {
            let members = state.members
            if members.isEmpty { return true }
            if let versionKey {
                guard case .integer(let number)? = members[versionKey], number >= version else { return false }
            }
            return formerKeys.allSatisfy { members.index(forKey: $0) == nil }
        }
    }

    package init(_ keys: Set<String>, of shape: Shape) {
        (self.keys, self.shape) = (keys.union(shape.keys), shape)
    }
}

// MARK: - The observers of an entry

/// The observers of one entry, in the order of their coming. A change is put into those that see one of its members alone,
/// and its part is made once for all that see the same ones. Adding or removing one takes constant time, because there may
/// be thousands.
struct ObserverTable {
    /// An observer, its place in the order of their coming, and what it runs if the domain's path leads to another file.
    struct Seat {
        let number: Int
        let observer: EntryObserver
        let pathChanged: EntryObserver.Action
    }

    /// Those that see the same members, in order.
    private struct Group {
        var seats: [Seat?] = []
        var places: [ObjectIdentifier: Int] = [:]

        mutating func append(_ seat: Seat) {
            places[ObjectIdentifier(seat.observer)] = seats.count
            seats.append(seat)
        }

        mutating func remove(_ observer: EntryObserver) -> Bool {
            guard let place = places.removeValue(forKey: ObjectIdentifier(observer)) else { return false }
            seats[place] = nil
            if seats.count > 16, places.count < seats.count / 2 {
                seats = seats.filter { $0 != nil }
                for (place, seat) in seats.enumerated() {
                    if let seat { places[ObjectIdentifier(seat.observer)] = place }
                }
            }
            return true
        }
    }

    private var groups: [SeenMembers?: Group] = [:]
    /// Those that see a member, by the shape in which they see it alone. Not those that see all.
    private var seenByKey: [SeenMembers.Shape: [String: Set<SeenMembers>]] = [:]
    private var seatsSoFar = 0

    var isEmpty: Bool { groups.isEmpty }

    /// In order.
    var all: [Seat] { groups.values.flatMap { $0.seats.compactMap { $0 } }.sorted { $0.number < $1.number } }

    mutating func append(_ observer: EntryObserver, pathChanged: @escaping EntryObserver.Action) {
        let seen = observer.seen
        if let seen, groups[seen] == nil {
            for key in seen.keys { seenByKey[seen.shape, default: [:]][key, default: []].insert(seen) }
        }
        seatsSoFar += 1
        groups[seen, default: Group()].append(
            Seat(number: seatsSoFar, observer: observer, pathChanged: pathChanged))
    }

    /// - Returns: false if the observer is not in the table.
    mutating func remove(_ observer: EntryObserver) -> Bool {
        let seen = observer.seen
        guard groups[seen]?.remove(observer) == true else { return false }
        guard groups[seen]?.places.isEmpty == true else { return true }
        groups[seen] = nil
        guard let seen else { return true }
        for key in seen.keys {
            seenByKey[seen.shape]?[key]?.remove(seen)
            if seenByKey[seen.shape]?[key]?.isEmpty == true { seenByKey[seen.shape]?[key] = nil }
        }
        if seenByKey[seen.shape]?.isEmpty == true { seenByKey[seen.shape] = nil }
        return true
    }

    /// Puts a change into the observers that see it.
    ///
    /// - Returns: what must run once no lock is held, in order.
    func put(_ change: EntryChange) -> [EntryObserver.Told] {
        // By the place of its part, which is nil for the whole change: a copy of a change costs 500 instructions.
        var parts: [EntryChange] = []
        var all = groups[nil]?.seats.compactMap { seat in seat.map { (seat: $0, part: Int?.none) } } ?? []
        let countOfAll = all.count
        for (shape, seenByKey) in seenByKey {
            let isWhole = !shape.isThat(of: change.before) || !shape.isThat(of: change.after)
            var concerned: Set<SeenMembers> = []
            for key in isWhole ? Set(seenByKey.keys) : change.difference.keys {
                concerned.formUnion(seenByKey[key] ?? [])
            }
            for seen in concerned {
                if !isWhole { parts.append(change.part(seen.keys)) }
                let part = isWhole ? nil : parts.count - 1
                for case let seat? in groups[seen]?.seats ?? [] { all.append((seat, part)) }
            }
        }
        if all.count > countOfAll { all.sort { $0.seat.number < $1.seat.number } }
        return all.compactMap { seat, part in seat.observer.put(part.map { parts[$0] } ?? change) }
    }
}

extension [EntryObserver.Told] {
    /// Whoever is woken does not wait for what may block.
    var inOrder: [EntryObserver.Action] { filter { !$0.isCall }.map(\.run) + filter(\.isCall).map(\.run) }
}
