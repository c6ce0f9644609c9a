import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Replaced files are closed on another thread.
@Suite struct BackgroundCloserTests {
    /// System calls whose `close` waits for a gate, except on the thread that made them.
    private final class SlowClose: SystemCalls, @unchecked Sendable {
        /// The closer of the test. In the closer of the process, the files of other tests wait, too.
        let closer = BackgroundCloser()
        let gate = Gate()
        private let writer = pthread_self()
        private let heard = Heard<Bool>()

        override func closeReplaced(_ descriptor: Descriptor, _ opened: FileStatus) {
            closer.close(descriptor, opened, self)
        }

        override func close(_ descriptor: Descriptor) {
            let isOnWriter = pthread_equal(pthread_self(), writer) != 0
            if !isOnWriter { gate.pass() }
            super.close(descriptor)
            heard.append(isOnWriter)
        }

        /// Waits until a number of closes have ended on other threads.
        func waitForOthers(_ count: Int) { heard.wait { $0.count { !$0 } >= count } }

        var own: Int { heard.all.count { $0 } }
        var others: Int { heard.all.count { !$0 } }
    }

    /// A write does not wait for the close of the file that it replaces. If too many files wait, it closes its own.
    @Test func aFewFilesWaitAtMost() throws {
        let system = SlowClose()
        for _ in 0..<20 {
            let descriptor = dup(STDIN_FILENO)
            system.closeReplaced(descriptor, try system.status(of: descriptor))
        }
        // One more file may have been taken from the list and wait at the gate.
        let waiting = 20 - system.own
        #expect((8...9).contains(waiting) && system.others == 0, "\(waiting)")
        system.gate.open()
        system.waitForOthers(waiting)
        #expect(system.own + system.others == 20)
    }

    /// The replaced file takes the last room on the disk, or of the user's quota, until it is closed.
    @Test(arguments: [ENOSPC, EDQUOT]) func aWriteWithoutRoomWaitsForTheClose(_ code: Int32) throws {
        final class FullDisk: SystemCalls, @unchecked Sendable {
            let gate = Gate()
            let replaced = Locked<Descriptor?>(nil)
            private let writer = pthread_self()
            private let code: Int32

            init(_ code: Int32) { self.code = code }

            override func closeReplaced(_ descriptor: Descriptor, _ opened: FileStatus) {
                replaced.withLock { $0 = descriptor }
                super.closeReplaced(descriptor, opened)
            }

            override func close(_ descriptor: Descriptor) {
                let isReplaced = replaced.withLock { $0 == descriptor }
                // The close may run on the thread of the writer, if files of other tests wait, too.
                if isReplaced, pthread_equal(pthread_self(), writer) == 0 { gate.pass() }
                super.close(descriptor)
                if isReplaced { replaced.withLock { $0 = nil } }
            }

            override func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor) throws(StorageFailure)
                -> Int
            {
                if replaced.withLock({ $0 }) != nil { throw StorageFailure("write", "", code: code) }
                return try super.write(bytes, to: descriptor)
            }

            override func finishClosing() {
                gate.open()
                super.finishClosing()
            }
        }
        let folder = try TemporaryFolder()
        let system = FullDisk(code)
        let prefs = folder.root(system: system)
        for number in 1...3 {
            prefs["a"] = number
            #expect(prefs.outcome == "ok")
        }
        #expect(prefs.ints == ["a": 3])
    }

    @Test func aWriteDoesNotWaitForTheClose() throws {
        let folder = try TemporaryFolder()
        let system = SlowClose()
        let prefs = folder.root(system: system)
        for number in 1...3 { prefs["a"] = number }
        #expect(prefs.ints == ["a": 3] && prefs.outcome == "ok")
        #expect(system.others == 0)
        system.gate.open()
        system.waitForOthers(2)
    }

    /// The thread cannot start, or has not begun.
    @Test(arguments: [false, true]) func closesDoNotWaitForAThread(_ isStarted: Bool) throws {
        let closer = BackgroundCloser { _ in isStarted }
        let descriptors = (0..<3).map { _ in dup(STDIN_FILENO) }
        for descriptor in descriptors {
            closer.close(descriptor, try SystemCalls.real.status(of: descriptor), SystemCalls.real)
        }
        #expect(closer.isClosing(for: SystemCalls.real) == isStarted)
        closer.finish()
        #expect(!closer.isClosing(for: SystemCalls.real))
    }
}
