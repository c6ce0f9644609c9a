import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Writes that give up the wait for their lock or for their turn.
@Suite(.waits) final class LockWaitTests: FolderSuite {
    private var lock: String { folder.file(".test.plist.lock").path }

    /// Counts the waits in the queue of the system, and the locks that were released.
    private final class QueueCounter: SystemCalls, @unchecked Sendable {
        let waits = Heard<Descriptor>()
        let unlocks = Heard<Descriptor>()

        override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
            if waits { self.waits.append(descriptor) }
            try super.lock(descriptor, waits: waits)
        }

        override func unlock(_ descriptor: Descriptor) {
            super.unlock(descriptor)
            unlocks.append(descriptor)
        }
    }

    private func held<R>(_ body: () throws -> R) throws -> R {
        let descriptor = open(lock, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        // A child that another test starts may share a descriptor of the lock for a moment.
        try #require(Patience.until { flock(descriptor, LOCK_EX | LOCK_NB) == 0 })
        return try body()
    }

    /// The thread that still waits gets the lock when it is free. A child that was forked in the meantime shares the descriptor, so
    /// that a close alone would leave the lock to it.
    @Test func aLockThatComesTooLateIsReleased() throws {
        folder.root()["a"] = 1
        let system = QueueCounter()
        let prefs = folder.root(system: system)
        for round in 1...3 {
            let earlier = system.unlocks.all.count
            try held {
                // A thread of the round before may not have ended. Without one, the write waits in the queue of the system.
                let limit = ContinuousClock.now.advanced(by: .seconds(Patience.seconds))
                while system.waits.all.count < round, ContinuousClock.now < limit {
                    LockWait.within(.milliseconds(1)) { prefs["a"] = 2 }
                    #expect(prefs.outcome.hasPrefix("busy: \(lock): still locked after 0.001 s: held by "))
                }
                // At most one thread waits.
                LockWait.within(.milliseconds(1)) { prefs["a"] = 3 }
                #expect(system.waits.all.count == round && system.unlocks.all.count == earlier)
            }
            system.unlocks.wait { $0.count > earlier }
            #expect(!isLocked(folder.file()))
        }
        prefs["a"] = 4
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 4])
    }

    #if os(Linux)
        /// The kernel lists each lock.
        @Test func aProcessWithTwoLocksIsNamedOnce() throws {
            try Data().write(to: URL(filePath: lock))
            let descriptors = (0..<2).map { _ in open(lock, O_RDONLY | O_CLOEXEC) }
            for descriptor in descriptors { #expect(flock(descriptor, LOCK_SH | LOCK_NB) == 0) }
            let holders = LockHolder.all(of: lock)
            #expect(holders.map(\.pid) == [Int(getpid())] && holders.allSatisfy(\.isOwn))
            for descriptor in descriptors {
                // A close alone would leave the lock to a child that another test starts at this moment.
                flock(descriptor, LOCK_UN)
                close(descriptor)
            }
            #expect(LockHolder.all(of: lock).isEmpty)
        }
    #endif

    /// Another thread of this process has its turn. The process that has the lock is this one, which is no news.
    @Test func aTurnThatDoesNotComeIsNoLockOfAnotherProcess() throws {
        let (prefs, other, lock) = (folder.root(), folder.root(), lock)
        prefs["a"] = 1
        prefs.update {
            inThreads(1) { _ in LockWait.within(.milliseconds(10)) { other["a"] = 2 } }
        }
        #expect(other.outcome == "busy: \(lock): busy in another thread after 0.01 s")
        #expect(prefs.outcome == "ok" && folder.root().ints == ["a": 1])
    }

    /// The next writer has made its own lock file, because that of a command is gone.
    @Test func aCommandLeavesTheLockFileOfTheNextWriter() throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let prefs = folder.root()
        ToolHook.$current.withValue(ToolHook(ownFiles: [])) {
            _ = prefs.update {
                prefs["a"] = 2
                unlink(lock)
                try Data().write(to: URL(filePath: lock))
            }
        }
        #expect(prefs.outcome == "not stored: \(folder.file().path): its lock file was removed during the update")
        #expect(try folder.names() == [".test.plist.lock", "test.plist"] && prefs.ints == ["a": 1])
    }

    /// The body goes on after a write of it was rejected.
    @Test func theFirstRejectionOfAnUpdateIsTold() throws {
        let queue = TransactionQueue()
        let failures = (1...3).map { FileError.notStored(StorageFailure(path: "", reason: "\($0)")) }
        struct Session: TransactionSession {
            let content: Content? = [:]
            func commit(_ content: Content, durability: CommitDurability) {}
        }
        for isNested in [true, false] {
            expectNotStored("1") {
                try queue.transact(durability: .process, begin: { Session() }) { transaction in
                    for failure in failures {
                        if isNested {
                            try? queue.transact(durability: .process, begin: { Session() }) { _ in throw failure }
                        } else {
                            transaction.fail(failure)
                        }
                    }
                }
            }
        }
    }
}
