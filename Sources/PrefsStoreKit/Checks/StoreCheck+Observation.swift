import Dispatch
import PersistentPreferences
import PrefsPropertyLists

extension StoreCheck {
    /// The checks of observers of a root.
    static let observation = [
        StoreCheck("commitsAreReported", "The closure is called after each commit that changes the root.") { place in
            let listener = try Listener(at: "A", of: place)
            try place.other.update(root: "A") { $0 = ["n": 1] }
            try listener.expectNext(nil, 1)
            try place.store.update(root: "A") { $0?["n"] = 2 }
            try listener.expectNext(1, 2)
            try place.other.update(root: "A") { $0 = nil }
            try listener.expectNext(2, nil)
        },
        StoreCheck("equalUpdateIsNoChange", "An update that leaves its root equal is not reported.") { place in
            try place.expectSilence { try $0.store.update(root: "A") { $0 = $0.map { $0.merging(["n": 1]) { $1 } } } }
        },
        StoreCheck("otherRootIsNoChange", "A commit that changes another root is not reported.") { place in
            try place.expectSilence { try $0.store.update(root: "B") { $0 = ["n": 7] } }
        },
        StoreCheck("rolledBackUpdateIsNoChange", "An update that throws is not reported.") { place in
            try place.expectSilence { place in
                try? place.store.update(root: "A") { root in
                    root = ["n": 7]
                    throw CheckedPlace.Stop()
                }
            }
        },
        StoreCheck("updateIsOneChange", "An update and the updates in it are one change.") { place in
            let listener = try Listener(at: "A", of: place)
            try place.store.update(root: "A") { _ in
                for number in 1...3 { try place.other.update(root: "A") { $0 = ["n": number] } }
            }
            try listener.expectNext(nil, 3)
        },
        StoreCheck("callsComeInOrder", "The calls come in the order of the commits, one at a time.") { place in
            let listener = try Listener(at: "A", of: place) { _ in _ = try place.store.read(root: "A") }
            try place.inThreads(place.threads) { _ in
                for _ in 0..<place.updates {
                    try place.store.update(root: "A") { $0 = ["n": ($0?["n"] as? Int ?? 0) + 1] }
                }
            }
            var last: Int?
            while last != place.threads * place.updates {
                let change = try listener.next()
                try place.expect(
                    change.oldValues["n"] as? Int == last,
                    "Expected a change from \(last ?? 0), found one from \(change.oldValues["n"] ?? 0).")
                last = change.newValues["n"] as? Int
            }
            try place.expect(!listener.hasOverlapped, "A call began before the last one had ended.")
        },
        StoreCheck("closureMayUseTheStore", "The closure may read, write and cancel.") { place in
            let listener = try Listener(at: "A", of: place) { observation in
                _ = try place.store.read(root: "A")
                // Keeps the entry of the check, for stores that have only one root.
                try place.store.update(root: "B") { $0 = ($0 ?? [:]).merging(["b": 1]) { $1 } }
                observation?.cancel()
            }
            try place.other.update(root: "A") { $0 = ["n": 1] }
            try listener.expectNext(nil, 1)
            try place.expect(place.store.read(root: "B")?["b"] as? Int == 1, "The write of the closure is missing.")
        },
        StoreCheck("slowClosureDelaysNoCommit", "A slow closure delays no commit.") { place in
            let (entered, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let listener = try Listener(at: "A", of: place) { _ in
                entered.signal()
                isOver.wait()
            }
            defer { for _ in 0..<10 { isOver.signal() } }
            let hasCommitted = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                for number in 1...3 { try? place.store.update(root: "A") { $0 = ["n": number] } }
                hasCommitted.signal()
            }
            try place.expect(place.waits(for: entered), "The closure was not called within \(place.patience) s.")
            try place.expect(place.waits(for: hasCommitted), "A commit waited for the closure.")
            _ = listener
        },
        StoreCheck("cancelledIsNotCalled", "No call begins after the observation is cancelled or released.") { place in
            let cancelled = try Listener(at: "A", of: place)
            let released = try Listener(at: "A", of: place)
            cancelled.observation.withLock { $0 }?.cancel()
            released.observation.withLock { $0 = nil }
            let last = try Listener(at: "A", of: place)
            try place.store.update(root: "A") { $0 = ["n": 1] }
            try last.expectNext(nil, 1)
            try place.expect(cancelled.isUncalled, "The closure of a cancelled observation was called.")
            try place.expect(released.isUncalled, "The closure of a released observation was called.")
        },
    ]
}

extension CheckedPlace {
    fileprivate func waits(for semaphore: DispatchSemaphore) -> Bool {
        semaphore.wait(timeout: .now() + .seconds(patience)) == .success
    }

    /// Expects that an access between two commits is not reported.
    fileprivate func expectSilence(of access: (CheckedPlace) throws -> Void) throws {
        let listener = try Listener(at: "A", of: self)
        try store.update(root: "A") { $0 = ["n": 1] }
        try listener.expectNext(nil, 1)
        try access(self)
        try store.update(root: "A") { $0 = ["n": 2] }
        try listener.expectNext(1, 2)
    }
}

/// An observer that keeps the changes that it receives.
private final class Listener: Sendable {
    let observation = Locked<PrefsObservation?>(nil)
    private let place: CheckedPlace
    private let arrival = DispatchSemaphore(value: 0)
    private let state = Locked(State())

    private struct State {
        var changes: [PrefsChange] = []
        var count = 0
        var isInCall = false
        var hasOverlapped = false
        var failure: (any Error)?
    }

    init(
        at root: String, of place: CheckedPlace,
        _ action: @escaping @Sendable (PrefsObservation?) throws -> Void = { _ in }
    ) throws {
        self.place = place
        let new = try place.store.observe(root: root) { [weak self] change in self?.receive(change, action) }
        observation.withLock { $0 = new }
    }

    private func receive(_ change: PrefsChange, _ action: (PrefsObservation?) throws -> Void) {
        state.withLock {
            if $0.isInCall { $0.hasOverlapped = true }
            $0.isInCall = true
            $0.count += 1
        }
        let failure = Result { try action(observation.withLock { $0 }) }
        state.withLock {
            if case .failure(let error) = failure { $0.failure = error }
            $0.changes.append(change)
            $0.isInCall = false
        }
        arrival.signal()
    }

    var hasOverlapped: Bool { state.withLock { $0.hasOverlapped } }
    var isUncalled: Bool { state.withLock { $0.count == 0 } }

    func next() throws -> PrefsChange {
        try place.expect(place.waits(for: arrival), "Expected a call, found none within \(place.patience) s.")
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return state.withLock { $0.changes.removeFirst() }
    }

    /// Expects that the next change is a change of `n` alone.
    func expectNext(_ old: Int?, _ new: Int?) throws {
        let change = try next()
        let expected = (old.map { ["n": $0] } ?? [:], new.map { ["n": $0] } ?? [:])
        let moment = "in a change of the root"
        try place.expect(change.oldValues, equals: expected.0, "as the old values \(moment)")
        try place.expect(change.newValues, equals: expected.1, "as the new values \(moment)")
    }
}
