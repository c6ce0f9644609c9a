@testable import PrefsSupport
import Foundation
import Observation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
import PrefsStoreKit
@testable import PrefsFileEngine
@testable import PrefsJSON

/// The Observation framework: each property by itself, right after the commit, on the thread that made it.
@Suite struct TrackingTests {
    private let store = PrefsStore.memory()

    private func prefs() -> SizePrefs { SizePrefs(key: "Root", store: store) }

    /// A read, and the changes of another instance that it is notified of: size, name, or free.
    enum Reading: CaseIterable {
        case property, handle, isStored, isDefault, subscripted, freeKey, values, count, exported,
            effectiveValue, effectiveValues

        fileprivate func read(_ prefs: SizePrefs) {
            switch self {
            case .property: _ = prefs.size
            case .handle: _ = prefs.$size.value
            case .isStored: _ = prefs.$size.isStored
            case .isDefault: _ = prefs.$size.isDefault
            case .subscripted: _ = prefs["size"]
            case .freeKey: _ = prefs["free"]
            case .values: _ = prefs.values
            case .count: _ = prefs.visibleCount()
            case .exported: _ = prefs.exported(as: .json)
            case .effectiveValue: _ = prefs.effectiveValue(of: "size")
            case .effectiveValues: _ = prefs.effectiveValues
            }
        }

        var keys: [String] {
            switch self {
            case .property, .handle, .isStored, .isDefault, .subscripted, .effectiveValue: ["size"]
            case .freeKey: ["free"]
            case .values, .count, .exported, .effectiveValues: ["free", "name", "size"]
            }
        }
    }

    @Test(arguments: Reading.allCases)
    func whatIsReadIsTracked(_ reading: Reading) {
        let prefs = prefs(), writer = self.prefs()
        var heard: [String] = []
        for (number, key) in ["free", "name", "size"].enumerated() {
            nonisolated(unsafe) let thread = Thread.current
            let fired = tracking({ reading.read(prefs) }, onChange: { Thread.current === thread })
            // A rejected write and an equal write are not a change.
            writer["unknown"] = 1
            writer[key] = prefs[key]
            #expect(fired.all == [])
            writer[key] = key == "name" ? "\(number)" : number
            if !fired.all.isEmpty { heard.append(key) }
            #expect(fired.all.allSatisfy { $0 })
            #expect(fired.all.count <= 1)
        }
        #expect(heard == reading.keys)
    }

    @Test func whatIsReadAtTheEndOfAnUpdateIsTheNewValue() {
        let prefs = prefs()
        let seen = tracking({ _ = prefs.size }) {
            defer { prefs.name = "written inside" }
            return [prefs.size, prefs.visibleCount()]
        }
        prefs.update {
            (prefs.size, prefs.name) = (14, "y")
            #expect(seen.all == [])
        }
        #expect(seen.all == [[14, 2]])
        #expect(prefs.name == "written inside")
        prefs.size = 15
        #expect(seen.all.count == 1)
    }

    @Test func assigningTheKeyIsAChangeOfWhatDiffers() {
        let prefs = prefs()
        let other = SizePrefs(key: "Other", store: store)
        other.size = 14
        let size = tracking({ _ = prefs.size }, onChange: { prefs.size })
        let name = tracking({ _ = prefs.name }, onChange: { prefs.name })
        prefs.key = "Other"
        #expect(size.all == [14])
        #expect(name.all == [])
        SizePrefs(key: "Root", store: store).name = "not ours any more"
        #expect(name.all == [])
        other.name = "ours"
        #expect(name.all == ["ours"])
    }

    /// An untracked read does not subscribe, so it costs no watch.
    @Test func anUntrackedReadObservesNothing() {
        let prefs = prefs()
        let untracked = Tracker()
        Reading.allCases.forEach { $0.read(prefs) }
        // A tracking of another object has no effect.
        _ = tracking({ untracked.touch() }, onChange: {})
        Reading.allCases.forEach { $0.read(prefs) }
        #expect(!store.isFollowed)
        _ = tracking({ _ = prefs.size }, onChange: {})
        #expect(store.isFollowed)
    }

    @Observable final class Tracker {
        var value = 0
        func touch() { _ = value }
    }

    /// Changes made elsewhere come on the main queue, in order, even if others wait there.
    @Test(.limited, arguments: Watcher.allCases)
    func foreignChangesComeOnTheMainQueue(_ watcher: Watcher) async throws {
        let folder = try TemporaryFolder()
        let prefs = SizePrefs(key: "Root", store: folder.observedStore("test.plist", WatchedSystemCalls(watcher)))
        prefs.size = 1
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        for number in 2...4 {
            let (changes, change) = AsyncStream<[Int]>.makeStream()
            withObservationTracking {
                _ = prefs.size
            } onChange: {
                change.yield([DispatchQueue.getSpecific(key: key) == true ? 1 : 0, prefs.size])
            }
            try writePropertyList(["Root": ["size": number]], to: folder.file())
            var seen = changes.makeAsyncIterator()
            #expect(await seen.next() == [1, number])
        }
        DispatchQueue.main.setSpecific(key: key, value: nil)
    }

    /// Tracks anew after each change, as a view does: on the main queue, and once for each tracking. Several threads that commit at once may
    /// each call the `onChange` of one tracking.
    @Test func underThreadsNothingIsMissed() {
        let prefs = prefs()
        let commits = 8 * 50
        let seen = Heard<Int>()
        @Sendable func track() {
            let isOver = Locked(false)
            let size = withObservationTracking {
                prefs.size
            } onChange: {
                let isFirst = isOver.withLock { isOver in
                    defer { isOver = true }
                    return !isOver
                }
                if isFirst { DispatchQueue.main.async { track() } }
            }
            if size == commits { seen.append(size) }
        }
        prefs.size = 0
        DispatchQueue.main.async { track() }
        inThreads(8) { _ in
            for _ in 0..<50 { prefs.update { $0["size"] = ($0["size"] as? Int ?? 0) + 1 } }
        }
        seen.wait { $0.contains(commits) }
    }

    /// Delays the first observer.
    private final class SlowBackend: PrefsBackend, @unchecked Sendable {
        let inner = PrefsStore.memory()
        let isAsked = Gate(), mayGo = Gate()
        private let hasBegun = Locked(false)

        func read(root: String) throws -> [String: Any]? { try inner.read(root: root) }

        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
            try inner.update(root: root, body)
        }

        func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
            let isFirst = hasBegun.withLock { hasBegun in
                defer { hasBegun = true }
                return !hasBegun
            }
            if isFirst {
                isAsked.open()
                mayGo.pass()
            }
            return try inner.observe(root: root, action)
        }
    }

    @Test func aThreadThatComesWhileAnotherBeginsMissesNothing() {
        let backend = SlowBackend()
        let prefs = SizePrefs(key: "Root", store: backend.store)
        let isOver = Gate()
        Thread.detachNewThread {
            _ = tracking({ _ = prefs.size }, onChange: {})
            isOver.open()
        }
        backend.isAsked.pass()
        let fired = tracking({ _ = prefs.size }, onChange: { 1 })
        prefs.size = 13
        backend.mayGo.open()
        isOver.pass()
        // The other store reports on the queue of an observer.
        fired.wait(for: 1)
    }

    // MARK: - The probe that detects tracked reads

    @Test func theProbeFindsATrackingAndNothingElse() {
        let keyPath: KeyPath<TrackingProbe.Sample, Void> = \.[probe: TrackingProbe()]
        let registrar = ObservationRegistrar()
        #expect(TrackingProbe.works)
        #expect(!TrackingProbe.isTracked(by: registrar))
        withObservationTracking {
            #expect(TrackingProbe.isTracked(by: registrar))
            #expect(
                TrackingProbe.findsTracking(with: keyPath), "if it fails, `isKnownToWork` is wrong for this toolchain")
        } onChange: {
        }
        #expect(!TrackingProbe.isTracked(by: registrar))
        // This key path is never hashed, as if the framework no longer hashed key paths.
        #expect(!TrackingProbe.findsTracking(with: \.[observed: "size"]))
    }

    @Test func withoutTheProbeEveryReadIsTracked() {
        let prefs = prefs(), writer = self.prefs()
        #expect(prefs.state.bridge.trustsProbe)
        prefs.state.bridge.trustsProbe = false
        _ = prefs.size
        #expect(store.isFollowed)
        let heard = tracking({ _ = prefs.size }, onChange: { prefs.size })
        writer.size = 13
        #expect(heard.all == [13])
    }
}
