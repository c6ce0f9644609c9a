@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing

private final class SharedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var n0 = 0
    @Pref var n1 = 0
    @Pref var n2 = 0
    @Pref var n3 = 0
    @Pref var n4 = 0
    @Pref var n5 = 0
    @Pref var n6 = 0
    @Pref var n7 = 0
    @Pref var total = 0
    @Pref var words: [String] = []
    @Pref(.formerly("was renamed")) var renamed = [0]

    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 1) { $0["total"] = 1_000 }]
    }

    var numbers: [PrefHandle<Int>] { [$n0, $n1, $n2, $n3, $n4, $n5, $n6, $n7] }
}

/// Typed access from eight threads, through one instance and through one each.
@Suite(.timeLimit(.minutes(10))) struct TypedThreadTests {
    @Test(arguments: [true, false])
    func nothingIsLost(_ instanceIsShared: Bool) throws {
        let file = try TypedFile(["was renamed": [1, 2], "n0": 0])
        let shared = SharedPrefs(key: TypedFile.root, store: file.store)
        inThreads(8) { thread in
            let prefs = instanceIsShared ? shared : SharedPrefs(key: TypedFile.root, store: file.store)
            let mine = prefs.numbers[thread]
            for round in 1...25 {
                #expect(mine.set(round) == nil)
                #expect(mine.value == round)
                #expect(prefs.update { prefs.total += 1 }.failure == nil)
                let error = prefs.update {
                    prefs.words.append("\(thread)")
                    prefs.renamed[0] += 1
                }.failure
                #expect(error == nil)
                #expect(prefs.total > 1_000 && prefs.renamed.count == 2 && prefs.words.count >= round)
            }
        }
        #expect(shared.numbers.map(\.value) == Array(repeating: 25, count: 8))
        #expect(shared.total == 1_200 && shared.renamed == [201, 2])
        #expect(shared.words.sorted() == (0..<8).flatMap { Array(repeating: "\($0)", count: 25) })
        #expect(shared.outcome == "ok" && shared["was renamed"] == nil)
    }

    @Test func anUpdateReturnsTheErrorOfThatVeryCall() {
        let prefs = AnyPrefs(store: .memory())
        let others = Locked(0)
        inThreads(8) { thread in
            let isGood = thread.isMultiple(of: 2)
            for _ in 0..<200 {
                let error = prefs.update { $0[isGood ? "a" : "unknown"] = thread }.failure
                if (error == nil) != isGood { others.withLock { $0 += 1 } }
            }
        }
        #expect(others.withLock { $0 } == 0)
    }

    /// The first access to a property must not read state that another thread is changing. ThreadSanitizer would detect
    /// it.
    @Test func aFirstAccessTouchesNothingElse() {
        for _ in 0..<20 {
            let prefs = BusyPrefs<[Int]>(store: .memory())
            inThreads(2) { thread in
                for round in 0..<50 {
                    if thread == 0 { prefs.note("\(round)") } else { prefs.number += 1 }
                }
            }
            #expect(prefs.number == 50 && prefs.notes == 50)
        }
    }
}

/// Has additional state, under its own lock.
private final class BusyPrefs<Note>: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
    private let lock = NSLock()
    private var list: [String] = []

    func note(_ text: String) { lock.withLock { list.append(text) } }
    var notes: Int { lock.withLock { list.count } }
}
