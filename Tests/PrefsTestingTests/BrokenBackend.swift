import Foundation
import PersistentPreferences
import PrefsStoreKit
import PrefsPropertyLists

/// The state that the objects of a broken backend share: a store that follows the rules, its observers, and the fault.
final class BrokenPlace: Sendable {
    let fault: Fault
    let memory = PrefsStore.memory()
    /// Held by an update, so that changes are reported in order.
    let updating = NSRecursiveLock()
    /// The queue of all observers' calls, so that they come in order.
    let queue = DispatchQueue(label: "BrokenPlace")
    let state = Locked(State())
    let (hasBegunSecondCall, hasEndedFirstCall) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    struct State {
        var observers: [(number: Int, root: String, action: @Sendable (PrefsChange) -> Void)] = []
        var lastNumber = 0
        var updates = 0
        var calls = 0
        var heldBack: PrefsChange?
        var objectCount = 0
        var kept: [PrefsObservation] = []
        var activities: [String: Activity] = [:]
        /// Objects and roots that were written, which the fault needs.
        nonisolated(unsafe) var objects: [String: NSMutableArray] = [:]
        nonisolated(unsafe) var nested: [String: [String: Any]?] = [:]
    }

    init(_ fault: Fault) {
        self.fault = fault
    }

    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// The current activity of a thread.
    struct Activity {
        /// The roots of its updates, the outermost first.
        var roots: [String] = []
        /// The root of the outermost one before it.
        nonisolated(unsafe) var before: [String: Any]?
        var isInCall = false
        /// Whether the first call runs, for `.callsAtOnce`.
        var isInFirstCall = false
        var isInSecondCall = false
    }

    /// The activity of the calling thread.
    var activity: Activity {
        get { state.withLock { $0.activities["\(pthread_self())"] ?? Activity() } }
        set { state.withLock { $0.activities["\(pthread_self())"] = newValue } }
    }

    // MARK: - Observers

    func observe(_ root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) -> PrefsObservation {
        if fault == .neverCalls { return PrefsObservation {} }
        let number = state.withLock {
            $0.lastNumber += 1
            $0.observers.append(($0.lastNumber, root, action))
            return $0.lastNumber
        }
        let observation = PrefsObservation { [weak self] in
            guard let self, fault != .ignoresTheEnd else { return }
            state.withLock { $0.observers.removeAll { $0.number == number } }
        }
        if fault == .keepsObservations { state.withLock { $0.kept.append(observation) } }
        return observation
    }

    func report(_ change: PrefsChange?) {
        guard let change else { return }
        let roots = fault == .reportsOtherRoots ? ["A", "B"] : [change.root]
        for observer in state.withLock({ $0.observers }) where roots.contains(observer.root) {
            let deliver: @Sendable () -> Void = { [self] in
                guard state.withLock({ $0.observers.contains { $0.number == observer.number } }) else { return }
                activity.isInCall = true
                defer { activity.isInCall = false }
                call(observer.action, change)
            }
            if fault == .waitsForClosures { deliver() } else { queue.async(execute: deliver) }
        }
    }

    private func call(_ action: @escaping @Sendable (PrefsChange) -> Void, _ change: PrefsChange) {
        let number = state.withLock {
            $0.calls += 1
            return $0.calls
        }
        switch (fault, number) {
        case (.reportsOutOfOrder, 5):
            state.withLock { $0.heldBack = change }
        case (.reportsOutOfOrder, 6):
            action(change)
            if let last = state.withLock({ $0.heldBack }) { action(last) }
        case (.callsAtOnce, 5):
            Thread.detachNewThread { [self] in
                activity.isInFirstCall = true
                action(change)
                hasEndedFirstCall.signal()
            }
        case (.callsAtOnce, 6):
            activity.isInSecondCall = true
            action(change)
            activity.isInSecondCall = false
        default:
            action(change)
        }
    }

    /// Delays the end of a call until another call has begun.
    func meetOtherCall() {
        if activity.isInFirstCall { hasBegunSecondCall.wait() }
        if activity.isInSecondCall {
            hasBegunSecondCall.signal()
            hasEndedFirstCall.wait()
        }
    }
}

/// A backend that breaks one rule.
final class BrokenBackend: RemotePrefsBackend {
    struct Wrapped: Error {}

    private let place: BrokenPlace
    private let thread = "\(pthread_self())"
    /// Of the objects for the place.
    private let number: Int
    private let cache = Locked(Cache())

    private struct Cache {
        nonisolated(unsafe) var roots: [String: [String: Any]?] = [:]
    }

    init(_ place: BrokenPlace) {
        self.place = place
        number = place.state.withLock {
            $0.objectCount += 1
            return $0.objectCount
        }
    }

    private func name(of root: String) -> String {
        switch place.fault {
        case .normalizesNames where root.contains(".."): "A"
        case .acceptsEmptyNames where root.isEmpty, .acceptsNULs where root.contains("\0"),
            .acceptsMarks where root.hasPrefix("\u{FEFF}"), .acceptsLongNames where root.utf8.count > 1_024:
            "odd"
        default: root
        }
    }

    func read(root: String) throws -> [String: Any]? {
        let root = name(of: root)
        let found = try place.memory.read(root: root)
        switch place.fault {
        case .inventsRoots where found == nil && place.state.withLock({ $0.updates == 0 }):
            return [:]
        case .cachesForEver where place.activity.roots.isEmpty:
            return cache.withLock {
                let known = $0.roots[root] ?? found
                $0.roots[root] = .some(known)
                return known
            }
        case .isBoundToAThread where thread != "\(pthread_self())":
            return nil
        case .returnsNumbersForBooleans:
            return found?.mapValues { type(of: $0) == Bool.self ? NSNumber(value: 1) : $0 }
        case .laterObjectsReadNothing where number > 2 && root.contains("/"):
            return nil
        case .keepsWrittenObjects:
            let objects = place.state.withLock { $0.objects }
            return found?.merging(objects) { $1 }
        case .readsOldStateInUpdates where !place.activity.roots.isEmpty:
            return place.activity.before
        case .callsAtOnce:
            place.meetOtherCall()
            return found
        default:
            let key = place.fault.keyOfAnotherType
            return found.map { values in
                Dictionary(
                    uniqueKeysWithValues: values.map {
                        ($0, $0 == key ? $1 is NSNumber ? "x" : NSNumber(value: 0) : $1)
                    })
            }
        }
    }

    func current(root: String) throws -> [String: Any]? {
        switch place.fault {
        case .comparesWithOldStates: place.activity.before
        case .readsTheServerInUpdates where !place.activity.roots.isEmpty: place.activity.before
        default: try place.memory.read(root: root)
        }
    }

    func lastKnown(root: String) -> [String: Any]? {
        switch place.fault {
        case .forgetsStates: nil
        case .knowsOnlyItsWrites: cache.withLock { $0.roots[root] ?? nil }
        default: (try? place.memory.read(root: root)) ?? nil
        }
    }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        place.observe(root, action)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        if place.fault == .rejectsWritesInCalls, place.activity.isInCall { throw Wrapped() }
        if place.fault == .dropsWritesOfCalls, place.activity.isInCall { return }
        let root = place.fault == .updatesWithEmptyNames && root.isEmpty ? "odd" : name(of: root)
        place.updating.lock()
        defer { place.updating.unlock() }
        place.state.withLock { $0.updates += 1 }
        let outer = place.activity.roots
        let before = (try? place.memory.read(root: root)) ?? nil
        if outer.isEmpty { place.activity.before = before }
        place.activity.roots = outer + [root]
        defer { place.activity.roots = outer }
        var attempted = before
        var hasRun = false
        do {
            try change(root, isNested: !outer.isEmpty) {
                hasRun = true
                if !outer.isEmpty, place.fault == .readsOldStateInNestedBodies {
                    var old = place.activity.before
                    let unchanged = old
                    try body(&old)
                    if Self.areEqual(old, unchanged) { return }
                    $0 = old
                } else {
                    try body(&$0)
                }
                attempted = $0
            } attempted: {
                attempted = $0
            }
        } catch {
            if place.fault == .wrapsTheErrorInOtherStores, !hasRun, case PrefsError.updateOfAnotherStore = error {
                throw Wrapped()
            }
            if outer.isEmpty { try end(root, before, attempted, with: error) }
            throw error
        }
        cache.withLock {
            $0.roots[root] = place.activity.roots.count == 1 ? .some((try? place.memory.read(root: root)) ?? nil) : nil
        }
        reportChange(of: root, before, isNested: !outer.isEmpty)
    }

    /// Runs one update of the correct store, with the effect of the fault.
    private func change(
        _ root: String, isNested: Bool, _ body: (inout [String: Any]?) throws -> Void,
        attempted note: ([String: Any]?) -> Void
    ) throws {
        let memory = place.memory
        var late: (any Error)?
        try memory.update(root: root) { values in
            let before = values
            do {
                if place.fault == .runsBodiesTwice {
                    var scratch = values
                    try body(&scratch)
                }
                if place.fault == .runsABodyOnAnotherThread, place.state.withLock({ $0.updates == 10 }) {
                    var (copy, result) = (values, Result<Void, any Error>.success(()))
                    onAnotherThread { result = Result { try body(&copy) } }
                    values = copy
                    try result.get()
                } else {
                    try body(&values)
                }
            } catch {
                note(values)
                let isOwnChange = !Self.areEqual(before, values)
                switch place.fault {
                case .commitsAfterAnError where !isNested && isOwnChange && !place.isObserved: late = error
                case .forgivesNestedErrors where isNested: (late, values) = (error, before)
                default: throw error
                }
            }
            try spoil(&values, before, root, isNested: isNested)
        }
        if let late { throw late }
    }

    /// Applies the fault to the result of a body.
    private func spoil(_ values: inout [String: Any]?, _ before: [String: Any]?, _ root: String, isNested: Bool) throws
    {
        let isOwnChange = !Self.areEqual(before, values)
        let updates = place.state.withLock { $0.updates }
        switch place.fault {
        case .dropsEmptyRoots where values?.isEmpty == true: values = nil
        case .keepsRootsSetToNil where values == nil && before != nil && !isNested: values = [:]
        case .keepsWrittenObjects:
            let objects = (values ?? [:]).compactMapValues { $0 as? NSMutableArray }
            nonisolated(unsafe) let kept = objects
            place.state.withLock { $0.objects.merge(kept) { $1 } }
        case .dropsUnsupportedValues: values = values?.filter { !($0.value is [UUID]) && !($0.value is () -> Int) }
        case .losesAnIncrement where updates == 10 && !place.isObserved && before?["n"] != nil && before?.count == 1:
            if values?["n"] as? Int != before?["n"] as? Int, place.state.withLock({ $0.lastNumber == 0 }) {
                values = before
            }
        case .losesAKey: values?["3"] = nil
        case .writesWholeRoots where !isNested && isOwnChange, .restoresWhatIsLeftAlone where !isNested && !isOwnChange:
            if place.isObserved { return }
            let whole = place.fault == .writesWholeRoots ? values : before
            try place.memory.update(root: root) { $0 = whole }
        case .dropsNestedCreations where !isNested && !isOwnChange && before == nil:
            if place.isObserved { return }
            try place.memory.update(root: root) { $0 = nil }
        case .dropsNestedRoots where isNested && place.activity.roots.first != root: values = before
        case .commitsNestedUpdates where isNested:
            nonisolated(unsafe) let result = values
            place.state.withLock { $0.nested[root] = .some(result) }
        default: break
        }
    }

    /// Applies the fault after an outermost update has failed.
    private func end(_ root: String, _ before: [String: Any]?, _ attempted: [String: Any]?, with error: any Error)
        throws
    {
        switch place.fault {
        case .wrapsErrors where !(error is PrefsError): throw Wrapped()
        case .wrapsTheErrorOfOtherStores:
            if case PrefsError.updateOfAnotherStore = error { throw Wrapped() }
        case .namesOneRejectedKey, .storesAPartOfARejectedUpdate:
            guard case PrefsError.valuesNotPlistCompatible = error else { return }
            if place.fault == .namesOneRejectedKey {
                throw PrefsError.valuesNotPlistCompatible(reasons: ["b": "is odd"])
            }
            try place.memory.update(root: root) { $0?["a"] = 2 }
        case .commitsNestedUpdates:
            nonisolated(unsafe) let nested = place.state.withLock { $0.nested }
            for (root, values) in nested { try place.memory.update(root: root) { $0 = values } }
        case .reportsRolledBackUpdates:
            place.report(PrefsChange(root: root, from: before, to: attempted, origin: .thisProcess))
        default: break
        }
    }

    private func reportChange(of root: String, _ before: [String: Any]?, isNested: Bool) {
        guard place.isObserved, !isNested || place.fault == .reportsNestedUpdates else { return }
        let now = (try? place.memory.read(root: root)) ?? nil
        let change = PrefsChange(root: root, from: before, to: now, origin: .thisProcess)
        if change == nil, place.fault == .reportsEqualUpdates {
            place.report(PrefsChange(root: root, from: nil, to: now, origin: .thisProcess))
        }
        place.report(change)
    }

    private static func areEqual(_ left: [String: Any]?, _ right: [String: Any]?) -> Bool {
        left.map { NSDictionary(dictionary: $0) } == right.map { NSDictionary(dictionary: $0) }
    }
}

/// Runs a closure on a thread of its own, which ends before this returns.
private func onAnotherThread(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
        // The name of the thread has another type on each platform.
        let name = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        defer { name.deallocate() }
        func typed<T>() -> UnsafeMutablePointer<T> { name.assumingMemoryBound(to: T.self) }
        let work = Unmanaged.passRetained(Work(body))
        guard pthread_create(typed(), nil, { perform($0) }, work.toOpaque()) == 0 else { return work.release() }
        pthread_join(name.load(as: pthread_t.self), nil)
    }
}

private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

private func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}
