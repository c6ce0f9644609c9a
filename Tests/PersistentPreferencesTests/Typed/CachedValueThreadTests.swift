@testable import PrefsSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Rings when it is released.
private final class Bell: @unchecked Sendable {
    let ring: @Sendable () -> Void

    init(_ ring: @escaping @Sendable () -> Void) { self.ring = ring }

    deinit { ring() }
}

private struct Ringing { let number: Int, bell: Bell? }

private final class RingingPrefs: PersistentPrefs, @unchecked Sendable {
    /// Told of a value that is released.
    @TaskLocal static var ring: @Sendable (Int) -> Void = { _ in }

    @Pref var other = 0
    @Pref(
        coding: PrefCoding<Ringing>(
            encode: { $0.number },
            decode: { object in
                guard let number = object as? Int else { return Ringing(number: -1, bell: nil) }
                let ring = RingingPrefs.ring
                return Ringing(number: number, bell: Bell { ring(number) })
            }))
    var ringing = Ringing(number: 0, bell: nil)
}

private final class CountedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var own0 = 0
    @Pref var own1 = 0
    @Pref var own2 = 0
    @Pref var text = "0"
}

/// Cached values while other threads write, and while the user's code runs in the middle of an access.
@Suite struct CachedValueThreadTests {
    @Test func aKeptObjectIsReleasedOutsideOfTheLock() {
        // The class keeps the properties of its first instance.
        _ = RingingPrefs(store: .memory())
        let prefs = RingingPrefs(store: .memory())
        let rings = Locked<[Int]>([])
        let ring: @Sendable (Int) -> Void = { [weak prefs] number in
            let other = prefs?.other ?? -1
            rings.withLock { $0.append(number * 100 + other) }
        }
        RingingPrefs.$ring.withValue(ring) {
            for number in 1...4 {
                prefs["ringing"] = number
                prefs.other = number
                #expect(prefs.ringing.number == number && prefs.ringing.number == number)
            }
        }
        // The check of each write made a bell, and the first read after it made another one, which replaced the
        // former. No lock was held when they were released.
        #expect(rings.withLock { $0 } == [100, 201, 102, 302, 203, 403, 304])
    }

    @Test(arguments: [StoreKind.memory, .binary]) func eachThreadReadsItsOwnWrites(on kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = kind.make(in: folder)
        let shared = CountedPrefs(store: store)
        let rounds = kind == .memory ? 400 : 40
        let keys: [any ReferenceWritableKeyPath<CountedPrefs, Int> & Sendable] = [\.own0, \.own1, \.own2]
        let wrong = Locked(0)
        inThreads(3) { thread in
            let own = CountedPrefs(store: store)
            func check(_ number: Int) {
                let read = [own[keyPath: keys[thread]], shared[keyPath: keys[thread]]]
                if read != [number, number] { wrong.withLock { $0 += 1 } }
            }
            for round in 1...rounds {
                shared[keyPath: keys[thread]] = round
                check(round)
                own[keyPath: keys[thread]] = -round
                check(-round)
                own.text = "\(round)"
                if Int(shared.text) == nil { wrong.withLock { $0 += 1 } }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect(keys.allSatisfy { shared[keyPath: $0] == -rounds })
    }

    /// A new file is compared by its bytes until the clock has moved on; then it is known to have settled.
    @Test func aStateSettlesOnce() throws {
        let folder = try TemporaryFolder()
        let system = RecordingSystemCalls()
        let prefs = CountedPrefs(store: .propertyList(url: folder.file(), durability: .crash, system: system))
        // The status was read before the file was on the disk, so the state has not settled at any time of the clock.
        system.isClockAhead = false
        prefs.text = "2"
        system.isClockAhead = true
        _ = system.takeCalls()
        #expect(prefs.text == "2")
        #expect(system.takeCalls().contains("read"))
        for _ in 0..<3 { #expect(prefs.text == "2") }
        #expect(!system.takeCalls().contains("read"))
        // The settled copy counts as that state for cached values, for writes, and for writes of equal values.
        #expect(prefs.text == "2" && prefs.own0 == 0)
        prefs.text = "2"
        prefs.own0 = 3
        #expect(prefs.text == "2" && prefs.own0 == 3 && prefs.outcome == "ok")
        try writePropertyList(["CountedPrefs": ["text": "4"]], to: folder.file())
        #expect(prefs.text == "4" && prefs.own0 == 0)
    }
}
