import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// Edits in place, of the same size and within one step of the clock that stamps the file: its status does not show
/// them.
@Suite final class CoarseClockTests: FolderSuite {
    private let system = StoppedClock()

    /// Edits the file without a new inode, size or time.
    private func edit(_ number: Int) throws {
        let handle = try FileHandle(forWritingTo: folder.file())
        try handle.write(contentsOf: PropertyListCoder.encode(plain: ["Root": ["a": number]], as: .binary))
        try handle.close()
    }

    /// Stamps with nanoseconds, and with whole or even seconds, which are settled only after two seconds.
    @Test(arguments: [(4, 0, 4), (0, 0, 1), (0, 1, 900_000_000), (0, 2, 0)])
    func eachEditInOneStepOfTheClockIsRead(_ stamp: Int, _ seconds: Int64, _ nanoseconds: Int) throws {
        system.stamp = FileStatus.Time(seconds: 1_000, nanoseconds: stamp)
        system.time = FileStatus.Time(seconds: 1_000 + seconds, nanoseconds: nanoseconds)
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let prefs = folder.root(system: system)
        for number in 1...5 {
            try edit(number)
            #expect(prefs.ints == ["a": number])
            #expect(prefs.ints == ["a": number])
        }
        prefs["a"] = 6
        #expect(prefs.outcome == "ok")
        for number in 7...9 {
            try edit(number)
            #expect(prefs.ints == ["a": number])
            prefs.update { prefs["b"] = number }
            #expect(prefs.ints == ["a": number, "b": number])
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            _ = prefs.values
        }
    }

    private func editAndMoveOn() {
        #expect(throws: Never.self) { try edit(2) }
        system.time = FileStatus.Time(seconds: 1_001, nanoseconds: 0)
    }

    /// The clock moves on after the edit and before the read is over. The bytes were read, or only compared.
    @Test(arguments: [true, false]) func anEditRightAfterTheBytesWereReadIsRead(_ isFirst: Bool) throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let former = isFirst ? nil : folder.root(system: system)
        system.afterRead = { [self] in editAndMoveOn() }
        let prefs = former ?? folder.root(system: system)
        #expect(prefs.ints == ["a": isFirst ? 2 : 1])
        #expect(prefs.ints == ["a": 2])
    }

    @Test func anEditRightAfterACommitIsRead() throws {
        let prefs = folder.root(system: system)
        system.afterRename = { [self] in editAndMoveOn() }
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(prefs.ints == ["a": 2])
    }

    /// The times do not show the edit: the clock stands still, or `touch -r` restores the time of the last
    /// modification, on any file system.
    @Test(arguments: [true, false]) func anEditDuringAnUpdateRejectsTheUpdate(_ isClockStopped: Bool) throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let prefs = folder.root(system: isClockStopped ? system : RecordingSystemCalls())
        let path = folder.file().path
        var before = stat()
        #expect(stat(path, &before) == 0)
        let error = prefs.update {
            prefs["a"] = 3
            try edit(2)
            let times = [before.st_mtim, before.st_mtim]
            #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        }
        let reason = "was changed by another program during the update"
        #expect(error?.text == "not stored: \(path): \(reason)")
        #expect(prefs.ints == ["a": 2])
        prefs["a"] = 4
        #expect(prefs.ints == ["a": 4])
    }

    /// A new mode, a second name and a new time do not change the bytes.
    @Test(arguments: ["chmod", "link", "touch"]) func aChangeOfTheStatusAloneRejectsNothing(_ change: String) throws {
        let prefs = folder.root(system: RecordingSystemCalls())
        prefs["a"] = 1
        let path = folder.file().path
        let error = prefs.update {
            prefs["a"] = 3
            switch change {
            case "chmod": chmod(path, 0o640)
            case "link": link(path, path + ".second")
            default: utimensat(AT_FDCWD, path, nil, 0)
            }
        }
        #expect(error == nil, "\(error?.text ?? "")")
        #expect(prefs.ints == ["a": 3])
        var after = stat()
        #expect(stat(path, &after) == 0 && after.st_mode & 0o777 == (change == "chmod" ? 0o640 : 0o600))
    }
}
