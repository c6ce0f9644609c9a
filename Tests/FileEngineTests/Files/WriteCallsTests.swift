import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// What a durable write asks the system: each thing once between two moments at which it may have changed.
@Suite final class WriteCallsTests: FolderSuite {
    /// Counts calls. All files have one time, within the current tick of the clock or before it.
    private final class CountedCalls: SystemCalls, @unchecked Sendable {
        nonisolated(unsafe) var counts: [String: Int] = [:]
        nonisolated(unsafe) var isWithinTick = false
        /// Called before each call with its name.
        nonisolated(unsafe) var onCall: ((String) -> Void)?
        private let stamp = FileStatus.Time(seconds: 1_000, nanoseconds: 4)

        private func count(_ name: String) {
            counts[name, default: 0] += 1
            onCall?(name)
        }

        private func stamped(_ status: FileStatus) -> FileStatus {
            var status = status
            (status.modified, status.changed) = (stamp, stamp)
            return status
        }

        override func open(
            _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
        ) throws(StorageFailure) -> Descriptor {
            count("open")
            return try super.open(name, in: folder, flags, mode: mode)
        }

        override func close(_ descriptor: Descriptor) {
            count("close")
            super.close(descriptor)
        }

        override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
            count("fstat")
            return stamped(try super.status(of: descriptor))
        }

        override func status(
            ofPath name: String, in folder: Descriptor, followsLinks: Bool
        ) throws(StorageFailure) -> FileStatus? {
            count(name == "test.plist" ? "stat of the file" : "stat")
            return try super.status(ofPath: name, in: folder, followsLinks: followsLinks).map(stamped)
        }

        override func read(
            _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
        ) throws(StorageFailure) -> Int {
            count("read")
            return try super.read(descriptor, into: buffer, at: offset)
        }

        override func nextStamp() -> FileStatus.Time {
            isWithinTick ? stamp : FileStatus.Time(seconds: 2_000, nanoseconds: 4)
        }
    }

    private let system = CountedCalls()

    /// The rest is one of each: open, write, close and rename of the new file, two flushes, lock and unlock, attributes.
    @Test(arguments: [false, true]) func aDurableWriteAsksNothingTwice(isWithinTick: Bool) {
        system.isWithinTick = isWithinTick
        let prefs = folder.root(system: system)
        for number in 1...3 { prefs["a"] = number }
        system.counts = [:]
        prefs["a"] = 4
        #expect(prefs.outcome == "ok")
        // The copy is read once for its form. Within a tick, the bytes are compared before the lock, under it and before the
        // rename; under the lock, the descriptor is asked after that. That of the former state is asked when it is closed.
        let expected = [
            "stat of the file": 2, "stat": 4, "fstat": isWithinTick ? 10 : 9, "read": isWithinTick ? 4 : 1, "open": 4,
            "close": 4,
        ]
        #expect(system.counts == expected)
    }

    /// The last look at the name comes after the comparison of the bytes.
    @Test func aModeSetDuringTheLastComparisonIsKept() throws {
        system.isWithinTick = true
        let prefs = folder.root(system: system)
        prefs["a"] = 1
        chmod(folder.file().path, 0o644)
        var reads = 0
        prefs["a"] = 2
        system.onCall = { [folder] call in
            guard call == "read" else { return }
            reads += 1
            if reads == 3 { chmod(folder.file().path, 0o600) }
        }
        prefs["a"] = 3
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 3])
        #expect(try folder.permissions() == 0o600)
    }

    /// What has the name of a lock file, of a copy or of a new file, and the outcome of a write.
    @Test(arguments: ["lock", "lastgood", "tmp"], ["a folder", "a FIFO", "a socket"])
    func onlyARegularFileIsUsedBesideTheFile(_ name: String, _ kind: String) throws {
        let prefs = folder.root(system: system)
        prefs["a"] = 1
        let path = folder.file(".test.plist.\(name)").path
        unlink(path)
        switch kind {
        case "a folder": mkdir(path, 0o700)
        case "a FIFO": mkfifo(path, 0o600)
        default: mknod(path, S_IFSOCK | 0o600, 0)
        }
        prefs["a"] = 2
        // What has the name of a new file may be of a killed writer, and is removed.
        let isStored = name == "lastgood" || name == "tmp" && kind != "a folder"
        if name == "tmp", !isStored {
            // The systems have different words for a folder that cannot be removed.
            #expect(prefs.outcome.hasPrefix("not stored: \(path): unlink: "), "\(prefs.outcome)")
        } else {
            #expect(prefs.outcome == (isStored ? "ok" : "not stored: \(path): is \(kind)"))
        }
        #expect(folder.root().ints == ["a": isStored ? 2 : 1])
    }

    /// The program has closed the descriptor of the folder of the last write, and uses its number for another folder.
    @Test func aFolderWhoseDescriptorTheProgramHasIsOpenedAnew() throws {
        let system = RecordingSystemCalls()
        var number: Int32 = -1
        system.afterOpen = { [folder] name, descriptor, _ in
            if name == folder.url.lastPathComponent { number = descriptor }
        }
        let prefs = folder.root(system: system)
        prefs["a"] = 1
        system.afterOpen = nil
        mkdir(folder.file("other").path, 0o700)
        // Without it, the folder would not be one that is written to.
        try Data().write(to: folder.file("other/.test.plist.lock"))
        let own = open(folder.file("other").path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(own >= 0 && system.openNow.contains(number) && dup2(own, number) == number)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && folder.root().ints == ["a": 2])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("other").path) == [".test.plist.lock"])
        // It is still that of the program.
        var (first, second) = (stat(), stat())
        #expect(fstat(own, &first) == 0 && fstat(number, &second) == 0 && first.st_ino == second.st_ino)
        close(own)
        close(number)
    }

    /// The program has closed the descriptor of the lock or of the file, and uses its number. A write would have asked.
    @Test(arguments: [".test.plist.lock", "test.plist"])
    func anUpdateWithoutAWriteClosesNoDescriptorOfTheProgram(_ name: String) throws {
        let system = RecordingSystemCalls()
        var number: Int32 = -1
        system.afterOpen = { opened, descriptor, _ in if opened == name { number = descriptor } }
        let own = open(folder.file("own").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(own) }
        do {
            let prefs = folder.root(system: system)
            prefs["a"] = 1
            prefs.update {
                #expect(prefs.ints == ["a": 1])
                #expect(dup2(own, number) == number)
            }
            #expect(prefs.outcome == "ok")
        }
        var (first, second) = (stat(), stat())
        #expect(fstat(own, &first) == 0 && fstat(number, &second) == 0 && first.st_ino == second.st_ino)
        close(number)
    }
}
