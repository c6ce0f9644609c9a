import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// A library that is loaded first fakes the times that `fstat` shows, and not those that `fstatat` shows: libfaketime.
@Suite final class FakedTimesTests: FolderSuite {
    /// What the library does to the times of files and to the clock.
    enum Fake: CaseIterable {
        /// Both are earlier than the true ones.
        case earlier
        /// Both stand still. The second one has whole seconds.
        case still, stillAtASecond
        /// Only the times of files stand still, so that they show no change at all.
        case stillFiles
    }

    private final class FakedTimes: SystemCalls, @unchecked Sendable {
        let fake: Fake
        /// Called before the first flush.
        var beforeFlush: (() -> Void)?

        init(_ fake: Fake) { self.fake = fake }

        private func faked(_ time: FileStatus.Time) -> FileStatus.Time {
            fake == .earlier
                ? FileStatus.Time(seconds: time.seconds - 200_000_000, nanoseconds: time.nanoseconds)
                : FileStatus.Time(seconds: 1_577_836_800, nanoseconds: fake == .stillAtASecond ? 0 : 1)
        }

        override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
            var status = try super.status(of: descriptor)
            (status.modified, status.changed) = (faked(status.modified), faked(status.changed))
            return status
        }

        override func wallClockNow() -> FileStatus.Time {
            fake == .stillFiles ? super.wallClockNow() : faked(super.wallClockNow())
        }

        override func nextStamp() -> FileStatus.Time {
            fake == .stillFiles ? super.nextStamp() : faked(super.nextStamp())
        }

        override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
            beforeFlush?()
            beforeFlush = nil
            try super.synchronize(descriptor)
        }
    }

    @Test(arguments: Fake.allCases) func aFileIsComparedWithWhatTheSameCallHasShown(_ fake: Fake) throws {
        let system = FakedTimes(fake)
        try writePropertyList(["Root": ["a": 0]], to: folder.file())
        let prefs = folder.root(system: system)
        for number in 1...3 {
            prefs["a"] = number
            #expect(prefs.outcome == "ok" && folder.root().ints == ["a": number])
        }
        chmod(folder.file().path, 0o640)
        prefs["a"] = 4
        #expect(try prefs.outcome == "ok" && folder.permissions() == 0o640)
    }

    /// A change in place during the update is noticed. Its size is the same, so only the times or the bytes show it.
    @Test(arguments: Fake.allCases) func aChangeInPlaceIsNoticed(_ fake: Fake) throws {
        let (system, file) = (FakedTimes(fake), folder.file())
        folder.root()["a"] = 1
        let prefs = folder.root(system: system)
        let former = try Data(contentsOf: file)
        let changed = Data(former.dropLast(33)) + [former[former.count - 33] ^ 1] + former.suffix(32)
        system.beforeFlush = { try? changed.write(to: file) }
        prefs["a"] = 2
        #expect(prefs.outcome == "not stored: \(file.path): was changed by another program during the update")
        #expect(try Data(contentsOf: file) == changed)
    }
}
