@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// The allowed actions of an observer's closure, and the end of an observation.
@Suite struct CallbackTests {
    private func prefs(_ store: PrefsStore = .memory()) -> AnyPrefs { store.observedPrefs() }

    /// An object that a closure captures.
    private final class Captured: Sendable {}

    /// An observation that its own closure can reach.
    private final class Holder: Sendable {
        private let held = Locked<[PrefsObservation]>([])

        func put(_ observation: PrefsObservation) { held.withLock { $0.append(observation) } }
        func cancel() { held.withLock { $0 }.forEach { $0.cancel() } }
        func release() {
            let last = held.withLock { held in
                defer { held = [] }
                return held
            }
            withExtendedLifetime(last) {}
        }
    }

    /// Counts to ten by writing the received value plus one. An equal write ends it.
    @Test(arguments: ObservedPlace.kinds)
    func aClosureReadsAndWrites(_ place: ObservedPlace) throws {
        let folder = try TemporaryFolder()
        let prefs = prefs(place.store(in: folder))
        let heard = Heard<String>()
        let observation = prefs.onChange {
            heard.append($0.text)
            let number = prefs["a"] as? Int ?? 0
            prefs["a"] = min(number + 1, 10)
            prefs["b"] = min(number, 3)
            prefs.update { $0["c"] = ($0["b"] as? Int ?? 0) * 2 }
        }
        prefs["a"] = 1
        let all = heard.wait { $0.contains("Root a: 9 → 10") && $0.contains("Root c: 4 → 6") }
        #expect(all.filter { $0.contains("a: ") } == ["Root a: - → 1"] + (1..<10).map { "Root a: \($0) → \($0 + 1)" })
        #expect(all.filter { $0.contains("b: ") } == ["Root b: - → 1", "Root b: 1 → 2", "Root b: 2 → 3"])
        #expect(Listener(prefs).take() == [])
        #expect(prefs.ints == ["a": 10, "b": 3, "c": 6])
        observation.cancel()
    }

    /// A class that cancels while its keys are asked for, to make the change.
    private final class CancellingPrefs: PersistentPrefs, @unchecked Sendable {
        static let queue = DispatchSpecificKey<Bool>()
        let holder = Holder()
        override var allowedKeys: [String] {
            if DispatchQueue.getSpecific(key: Self.queue) == true { holder.cancel() }
            return ["a"]
        }
    }

    /// The change is being made, and the closure is not called yet.
    @Test func noCallBeginsIfTheChangeWasBeingMade() {
        let queue = DispatchQueue(label: "CallbackTests")
        queue.setSpecific(key: CancellingPrefs.queue, value: true)
        let (prefs, heard) = (CancellingPrefs(key: "Root", store: .memory()), Heard<String>())
        prefs.holder.put(prefs.onChange(of: "a", on: queue) { heard.append($0.text) })
        prefs["a"] = 1
        queue.sync {}
        #expect(heard.all == [])
    }

    enum Ending: CaseIterable { case cancelled, released, cancelledByThreads }

    /// Inside of its closure, or later.
    @Test(arguments: Ending.allCases, [true, false])
    func whatEndsIsSilentAndReleasesItsClosure(_ ending: Ending, _ isInside: Bool) {
        let prefs = prefs()
        let holder = Holder()
        @Sendable func end() {
            switch ending {
            case .cancelled: holder.cancel()
            case .released: holder.release()
            case .cancelledByThreads: inThreads(4) { _ in holder.cancel() }
            }
        }
        let heard = Heard<String>()
        let (isSetUp, isOver) = (Gate(), Heard<Bool>())
        weak var captured: Captured?
        do {
            let object = Captured()
            captured = object
            holder.put(
                prefs.onChange { change in
                    withExtendedLifetime(object) {}
                    isSetUp.pass()
                    heard.append(change.text)
                    if isInside { end() }
                    isOver.append(true)
                })
        }
        isSetUp.open()
        prefs["a"] = 1
        isOver.wait(for: 1)
        if !isInside {
            #expect(captured != nil)
            end()
        }
        // The call may still be returning.
        let limit = Date(timeIntervalSinceNow: TimeInterval(Patience.seconds))
        while captured != nil, Date() < limit { sched_yield() }
        #expect(captured == nil)
        prefs["a"] = 2
        #expect(Listener(prefs).take() == [])
        #expect(heard.all == ["Root a: - → 1"])
    }

    @Test func aClosureCancelsOthersAndAddsMore() {
        let prefs = prefs()
        let holder = Holder(), more = Holder()
        let (first, other, added) = (Heard<String>(), Heard<String>(), Heard<String>())
        // All run on one queue, so that the others have not begun when the first one cancels them.
        let queue = DispatchQueue(label: "test")
        let observation = prefs.onChange(on: queue) {
            first.append($0.text)
            holder.cancel()
            if first.all.count == 1 { more.put(prefs.onChange { added.append($0.text) }) }
        }
        holder.put(prefs.onChange(on: queue) { other.append($0.text) })
        holder.put(prefs.onChange(of: "a", on: queue) { other.append($0.text) })
        prefs["a"] = 1
        first.wait(for: 1)
        queue.sync {}
        prefs["a"] = 2
        #expect(first.wait(for: 2) == ["Root a: - → 1", "Root a: 1 → 2"])
        #expect(added.wait(for: 1) == ["Root a: 1 → 2"])
        queue.sync {}
        #expect(other.all == [])
        observation.cancel()
        more.cancel()
    }

    /// The case of a model object that has both an instance and an observation.
    @Test func anObservationOutlivesItsInstance() {
        let store = PrefsStore.memory()
        let writer = prefs(store)
        weak var released: AnyPrefs?
        var observer: Observer<String>?
        do {
            let prefs = AnyPrefs(["a"], key: "Root", store: store)
            released = prefs
            observer = prefs.observer()
        }
        #expect(released == nil)
        writer.update { ($0["a"], $0["b"]) = (1, 1) }
        let heard = observer?.heard
        #expect(heard?.wait(for: 1) == ["Root a: - → 1"])
        observer = nil
        writer["a"] = 2
        #expect(Listener(writer).take() == [])
        #expect(heard?.all.count == 1)
    }

    /// The closure of an observation is released outside of every lock, because captured objects may use the
    /// preferences in their deinit.
    @Test func whatIsReleasedMayWrite() {
        final class WritesAtItsEnd: Sendable {
            let prefs: AnyPrefs
            let inner: PrefsObservation
            init(_ prefs: AnyPrefs, _ inner: PrefsObservation) { (self.prefs, self.inner) = (prefs, inner) }
            deinit { prefs["b"] = "ended" }
        }
        let prefs = prefs()
        let listener = Listener(prefs)
        do {
            let object = WritesAtItsEnd(prefs, prefs.onChange { _ in })
            let observation = prefs.onChange { _ in withExtendedLifetime(object) {} }
            observation.cancel()
        }
        #expect(listener.take() == ["Root b: - → 'ended'"])
    }

    /// After a cancellation on the caller's serial queue, no call begins.
    @Test func noCallBeginsAfterTheEnd() {
        let prefs = prefs()
        let queue = DispatchQueue(label: "test")
        for round in 1...200 {
            let isOver = Heard<Bool>(), late = Heard<Int>()
            let observation = prefs.onChange(on: queue) { _ in if !isOver.all.isEmpty { late.append(round) } }
            prefs["a"] = round
            prefs["b"] = round
            queue.sync {
                observation.cancel()
                isOver.append(true)
            }
            prefs["a"] = -round
            queue.sync {}
            #expect(late.all == [])
        }
    }

    @Test func oneCallAtATimeAlsoOnAConcurrentQueue() {
        let prefs = prefs()
        let inside = NSLock()
        let heard = Observer<Int> { tell in
            prefs.onChange(of: "a", on: .global()) {
                #expect(inside.try())
                sched_yield()
                tell($0.newValues["a"] as? Int ?? 0)
                inside.unlock()
            }
        }
        for number in 1...300 { prefs["a"] = number }
        #expect(heard.wait(for: 300) == Array(1...300))
    }

    /// An observer that is added inside an update receives nothing before the commit, and then the whole result.
    @Test func anObserverAddedInsideAnUpdateReceivesIt() {
        let prefs = prefs()
        let heard = Heard<String>()
        let holder = Holder()
        prefs.update {
            prefs["a"] = 1
            holder.put(prefs.onChange { heard.append($0.text) })
            prefs["a"] = 2
        }
        #expect(heard.wait(for: 1) == ["Root a: - → 2"])
        holder.cancel()
    }
}
