@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import TestSupport
import Testing
import WriteOperations

@testable import EngineSupport

final class TickPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var ticks = 0
    @Pref(.in(0...9)) var digit = 0
    @Pref var names: [String] = []
}

/// The forms of one transaction: of one key, with a limited wait, and without blocking a thread of the cooperative
/// pool.
@Suite(.limited) struct UpdateFormsTests {
    private let folder = TemporaryFolder.fresh
    private let prefs: TickPrefs

    init() {
        prefs = TickPrefs(key: "Root", store: .propertyList(url: folder.file(), durability: .crash))
    }

    private var sidecar: String {
        folder.file().deletingLastPathComponent().path + "/." + folder.file().lastPathComponent + ".lock"
    }

    /// Holds the lock of the file as another process would, through its own open file.
    private func lockedFile() throws -> Int32 {
        prefs.ticks = 1
        let descriptor = open(sidecar, O_RDWR | O_CLOEXEC)
        try #require(flock(descriptor, LOCK_EX) == 0)
        return descriptor
    }

    /// Releases the lock once the gate is open, or after a wait that is too long, so that a fault does not block the
    /// test for ever. That is five minutes, because a task that is resumed queues behind all other tests.
    private func release(_ descriptor: Int32, after gate: Gate) {
        Thread.detachNewThread {
            gate.pass(within: max(300, Patience.seconds))
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }

    // MARK: - One key

    private static let transactions = WriteOperation.of(.property, .instance).filter(\.isTransaction)

    @Test(arguments: transactions.filter(\.isAsync))
    func incrementsOfManyTasksAllCount(_ operation: WriteOperation) async {
        let target = WriteTarget(prefs, \.ticks, \.$ticks, change: { $0 += 1 })
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { for _ in 0..<10 { _ = await target.perform(operation) } }
            }
        }
        #expect(prefs.ticks == 200)
    }

    @Test(arguments: transactions.filter { !$0.isAsync })
    func incrementsOfManyThreadsAllCount(_ operation: WriteOperation) {
        let target = WriteTarget(prefs, \.ticks, \.$ticks, change: { $0 += 1 })
        DispatchQueue.concurrentPerform(iterations: 20) { _ in
            for _ in 0..<10 { _ = target.performBlocking(operation) }
        }
        #expect(prefs.ticks == 200)
    }

    @Test func aModifyThatIsRejectedOrThrowsChangesNothing() {
        prefs.digit = 5
        #expect(prefs.$digit.modify { $0 = 10 }?.description == "digit: must be in 0...9")
        #expect(throws: Stop.self) {
            try prefs.$digit.modify {
                $0 = 6
                throw Stop()
            }
        }
        let error = prefs.update {
            prefs.ticks = 5
            prefs.$ticks.modify { $0 += 1 }
            prefs.$digit.modify { $0 = 10 }
            #expect(prefs.digit == 5 && prefs.ticks == 6, "the values before the rejection")
        }.failure
        #expect(error != nil && prefs.ticks == 0, "its error rolls back the update that it joins")
        #expect(prefs.digit == 5)
    }

    @Test func aValueThatCannotBeReadIsNotModified() throws {
        let store = PrefsStore.memory()
        try store.update(root: "TickPrefs") { $0 = ["ticks": "many"] }
        let prefs = TickPrefs(store: store)
        var calls = 0
        let told = prefs.errorObserver()
        let error = prefs.$ticks.modify { _ in calls += 1 }
        #expect(error?.description == "ticks: expected Int, found a string" && calls == 0)
        #expect(told.all.count == 2 && prefs.lastError == error, "the fault that stands, and the rejected write")
        #expect(try store.read(root: "TickPrefs")?["ticks"] as? String == "many")
    }

    // MARK: - A limited wait

    @Test func anUpdateGivesUpAndNothingHasChanged() throws {
        let descriptor = try lockedFile()
        defer { close(descriptor) }
        var calls = 0
        let error = prefs.update(timeout: .milliseconds(20)) { calls += 1 }.failure
        let failure = try #require(error?.detail(of: PrefsError.busy), "\(error as Any)")
        #expect(failure.path.hasSuffix(".lock") && failure.reason.hasPrefix("still locked after 0.02 s: held by "))
        #expect(calls == 0 && prefs.lastError == error && prefs.ticks == 1)
        #expect(prefs.$ticks.modify(timeout: .zero) { $0 += 1 } != nil)
        let value = prefs.update(timeout: .milliseconds(1)) { () -> Int in 5 }
        #expect((try? value.get()) == nil)
        flock(descriptor, LOCK_UN)
        #expect(prefs.update(timeout: .seconds(Patience.seconds)) { prefs.ticks += 1 }.failure == nil)
        #expect(prefs.ticks == 2)
    }

    @Test func aTurnOfAnotherThreadIsNotWaitedForLonger() {
        let (prefs, inside, over) = (prefs, Gate(), Gate())
        let holder = Thread {
            prefs.update {
                inside.open()
                over.pass()
            }
        }
        holder.start()
        inside.pass()
        let error = prefs.update(timeout: .milliseconds(10)) {}.failure
        #expect(error?.description == "\(sidecar): busy in another thread after 0.01 s; the stored state is unchanged")
        over.open()
        #expect(prefs.update(timeout: .seconds(Patience.seconds)) {}.failure == nil)
    }

    #if os(Linux)
        @Test func timeoutsInVainLeaveOneThread() throws {
            let descriptor = try lockedFile()
            defer { close(descriptor) }
            let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            for _ in 0..<600 { #expect(prefs.update(timeout: .zero) {}.failure != nil) }
            let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            #expect(after < before + 400, "other tests have threads, too")
        }
    #endif

    /// The timeout limits only the wait for the body, not the waits in tasks of the body and in handlers afterwards.
    @Test func theTimeoutEndsWithTheWait() {
        let told = Observer<Bool> { tell in prefs.onError { _ in tell(LockWait.current == nil) } }
        var isOver = false
        prefs.update(timeout: .seconds(Patience.seconds)) {
            isOver = LockWait.current == nil
            prefs["z"] = 1
        }
        #expect(isOver && told.wait(for: 2) == [true, true])
    }

    @Test(arguments: [
        Duration.seconds(-1e19), .seconds(-1), .zero, Duration(secondsComponent: .min, attosecondsComponent: 0),
    ])
    func aTimeoutThatIsOverGivesUp(_ timeout: Duration) throws {
        let descriptor = try lockedFile()
        defer { close(descriptor) }
        let error = prefs.update(timeout: timeout) {}.failure
        #expect(error?.description.contains("still locked after 0 s") == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        Duration.seconds(1e18), .seconds(1.7e20), Duration(secondsComponent: .max, attosecondsComponent: 0),
    ])
    func anEndlessTimeoutIsNone(_ timeout: Duration) async {
        let prefs = prefs
        #expect(blocking { prefs.update(timeout: timeout) { prefs.ticks += 1 }.failure } == nil)
        #expect(await prefs.update(timeout: timeout) { prefs.ticks += 1 }.failure == nil && prefs.ticks == 2)
    }

    /// Chooses the synchronous form.
    private func blocking(_ body: () -> PrefsError?) -> PrefsError? { body() }

    // MARK: - A limit of the class

    private final class HurriedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var ticks = 0

        override class var writeTimeout: Duration? { .milliseconds(5) }
    }

    private final class PatientPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var ticks = 0

        override class var writeTimeout: Duration? { .seconds(3_600) }
    }

    @Test(arguments: WriteOperation.of(.property, .instance))
    func theClassLimitsEveryWait(_ operation: WriteOperation) async throws {
        let store = PrefsStore.propertyList(url: folder.file(), durability: .crash)
        let prefs = HurriedPrefs(key: "Root", store: store)
        let descriptor = try lockedFile()
        defer { close(descriptor) }
        let target = WriteTarget(
            prefs, \.ticks, \.$ticks, to: 5, create: { HurriedPrefs(key: "Root", values: $0, store: store) })
        let error = await target.perform(operation)
        let failure = try #require(error?.detail(of: PrefsError.busy), "\(error as Any)")
        #expect(failure.reason.hasPrefix("still locked after 0.005 s: held by "))
        flock(descriptor, LOCK_UN)
        #expect(prefs.ticks == 1)
    }

    @Test func theTimeoutOfACallTakesPrecedence() async throws {
        let prefs = PatientPrefs(key: "Root", store: .propertyList(url: folder.file(), durability: .crash))
        let descriptor = try lockedFile()
        defer { close(descriptor) }
        let errors = [
            blocking { prefs.update(timeout: .zero) { prefs.ticks += 1 }.failure },
            blocking { prefs.$ticks.modify(timeout: .zero) { $0 += 1 } },
            await prefs.update(timeout: .zero) { prefs.ticks += 1 }.failure,
            await prefs.$ticks.modify(timeout: .zero) { $0 += 1 },
        ]
        for error in errors {
            #expect(error?.description.contains("still locked after 0 s") == true, "\(String(describing: error))")
        }
    }

    // MARK: - Without blocking

    /// A call with a timeout does not queue behind calls that wait without a limit.
    @Test func aTimeoutHoldsBehindOtherUpdates() async throws {
        let descriptor = try lockedFile()
        let prefs = prefs
        let gate = Gate()
        release(descriptor, after: gate)
        let others = (0..<20).map { _ in Task { await prefs.update { prefs.ticks += 1 } } }
        for _ in 0..<3 {
            let error = await prefs.update(timeout: .milliseconds(20)) { prefs.ticks += 0 }.failure
            #expect(error?.detail(of: PrefsError.busy) != nil, "\(error as Any)")
        }
        gate.open()
        for other in others { #expect(await other.value.failure == nil) }
        #expect(prefs.ticks == 21)
    }

    /// The lock is released by a task that begins when more writes wait than the pool has threads. It would never run if
    /// the writes blocked the threads.
    @Test(arguments: WriteOperation.of(.property, .instance).filter(\.isAsync))
    func waitingWritesStopNoOtherTask(_ operation: WriteOperation) async throws {
        let descriptor = try lockedFile()
        let gate = Gate()
        release(descriptor, after: gate)
        let target = WriteTarget(prefs, \.ticks, \.$ticks, to: 5)
        let writes = (0..<3 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task { await target.perform(operation) }
        }
        for _ in 0..<10 {
            await withTaskGroup { group in for _ in 0..<10 { group.addTask { await Task.yield() } } }
        }
        #expect(prefs.ticks == 1)
        gate.open()
        for write in writes { #expect(await write.value == nil) }
        #expect(prefs.values["ticks"] as? Int == (operation.effect == .puts ? 5 : nil))
    }

    @Test func anAsynchronousUpdateIsLikeASynchronousOne() async throws {
        let prefs = prefs
        #expect(await prefs.update { $0["ticks"] = 3 }.failure == nil)
        #expect(await prefs.update { prefs.digit = 10 }.failure?.description == "digit: must be in 0...9")
        await #expect(throws: Stop.self) {
            try await prefs.update {
                prefs.ticks = 4
                throw Stop()
            }
        }
        #expect(try await prefs.update { () -> Int in prefs.ticks }.get() == 3)
        #expect(try await prefs.update { values -> Int? in values["ticks"] as? Int }.get() == 3)
    }

    @Test func itIsInTheTaskOfItsCaller() async {
        enum Own {
            @TaskLocal static var name = ""
        }
        let store = PrefsStore.memory()
        await PersistentPrefs.withStore(store) {
            let own = TickPrefs()
            let name = await Own.$name.withValue("mine") {
                await own.update { () -> String in
                    own.ticks = 5
                    return Own.name
                }
            }
            #expect((try? name.get()) == "mine")
        }
        #expect(TickPrefs(store: store).ticks == 5)
    }

    @Test func cancellationNeitherPreventsNorStopsIt() async throws {
        let prefs = prefs
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await prefs.update { () -> Bool in
                prefs.ticks = 7
                return Task.isCancelled
            }
        }
        task.cancel()
        #expect(try await task.value.get() && prefs.ticks == 7)
    }

    // MARK: - Several keys

    @Test func severalKeysAreRemovedInOneTransaction() throws {
        prefs.values = ["ticks": 1, "digit": 2, "names": ["a"]]
        let changes = Observer<[String]> { tell in prefs.onChange { tell($0.keys.sorted()) } }
        #expect(prefs.reset("ticks", "names") == nil)
        #expect(changes.wait(for: 1) == [["names", "ticks"]])
        #expect(prefs.values.keys.sorted() == ["digit"])
        let error = prefs.reset("digit", "b", "a", "b")
        #expect(error == .incorrectKeys(invalidElements: ["a", "b"]) && prefs.digit == 2)
        #expect(prefs.reset("ticks") == nil)
    }
}
