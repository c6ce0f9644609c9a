import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Two copies of this package in one process. A test plays the other copy: it locks the file by a descriptor of its own, and
/// asks or answers as that copy would.
@Suite(.waits) final class OtherCopiesTests: FolderSuite {
    /// Other copies may be other versions of the package, so the name and its keys never change.
    private static let question = Notification.Name("PersistentPreferences.isLockedByThisThread")

    private var lock: String { folder.file(".test.plist.lock").path }

    /// An update of another copy on the thread that creates this object.
    private final class OtherCopy: @unchecked Sendable {
        private var descriptor: Int32
        private let observer: any NSObjectProtocol

        init(_ lock: String) throws {
            let descriptor = open(lock, O_RDWR | O_CLOEXEC)
            try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            let thread = pthread_self()
            observer = NotificationCenter.default.addObserver(
                forName: OtherCopiesTests.question, object: nil, queue: nil
            ) {
                guard $0.userInfo?["path"] as? String == lock, pthread_equal(thread, pthread_self()) != 0 else {
                    return
                }
                ($0.userInfo?["answers"] as? NSMutableArray)?.add(lock)
            }
            self.descriptor = descriptor
        }

        func end() {
            NotificationCenter.default.removeObserver(observer)
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Runs an action when a writer begins to wait for a lock.
    private final class ActionBeforeWait: SystemCalls, @unchecked Sendable {
        let action: @Sendable () -> Void

        init(_ action: @escaping @Sendable () -> Void) { self.action = action }

        override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
            if waits { action() }
            try super.lock(descriptor, waits: waits)
        }
    }

    @Test(arguments: [nil, Duration.seconds(3_600)])
    func aWriteInsideAnUpdateOfAnotherCopyFailsAtOnce(_ timeout: Duration?) throws {
        folder.root()["a"] = 1
        let other = try OtherCopy(lock)
        // Instead of waiting for ever.
        let prefs = folder.root(system: ActionBeforeWait { other.end() })
        LockWait.within(timeout) { prefs["a"] = 2 }
        #expect(
            prefs.outcome
                == "not stored: \(lock): held by an update on this thread in another copy of this package; "
                + "link the package once, in one dynamic library that exports it")
        guard case .notStored(let failure)? = prefs.lastError else { return }
        #expect(failure.code == EDEADLK && folder.root().ints == ["a": 1])
        other.end()
        prefs["a"] = 3
        #expect(prefs.outcome == "ok" && folder.root().ints == ["a": 3])
    }

    @Test(arguments: [nil, Duration.seconds(3_600)])
    func aWriteOnAnotherThreadWaits(_ timeout: Duration?) throws {
        folder.root()["a"] = 1
        let other = try OtherCopy(lock)
        let prefs = folder.root(system: ActionBeforeWait { other.end() })
        inThreads(1) { _ in LockWait.within(timeout) { prefs["a"] = 2 } }
        #expect(prefs.outcome == "ok" && folder.root().ints == ["a": 2])
    }

    /// The own process is not "another process".
    @Test func aWaitThatIsTooLongNamesTheOtherCopy() throws {
        folder.root()["a"] = 1
        let other = try OtherCopy(lock)
        defer { other.end() }
        let (prefs, lock) = (folder.root(), lock)
        inThreads(1) { _ in LockWait.within(.milliseconds(10)) { prefs["a"] = 2 } }
        let holder = "held by another " + (Self.isTold ? "copy of this package in this process" : "process")
        #expect(prefs.outcome == "busy: \(lock): still locked after 0.01 s: \(holder)")
    }

    /// Whether the system names the process that holds a lock.
    private static var isTold: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    @Test func anUpdateAnswersOnItsThreadAboutItsFile() {
        /// The number of copies that hold the lock on this thread.
        @Sendable func holders(of lock: String) -> Int {
            let answers = NSMutableArray()
            NotificationCenter.default.post(
                name: Self.question, object: nil, userInfo: ["path": lock, "answers": answers])
            return answers.count
        }
        let (prefs, lock) = (folder.root(), lock)
        prefs["a"] = 1
        prefs.update {
            #expect(holders(of: lock) == 1)
            ThreadState.current.rejectingWrites.run { #expect(holders(of: lock) == 1) }
            #expect(holders(of: folder.file(".other.plist.lock").path) == 0)
            inThreads(1) { _ in #expect(holders(of: lock) == 0) }
        }
        #expect(prefs.outcome == "ok" && holders(of: lock) == 0)
    }
}
