import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// Changes in the middle of a read, and reads in the middle of a commit.
@Suite final class ReadInterferenceTests: FolderSuite {
    /// The first half of one state and the second half of another would be a state that never existed.
    @Test func aFileThatIsWrittenWhileItIsReadIsReadAgain() throws {
        func text(_ number: Int) -> Data {
            let gap = String(repeating: " ", count: 2_000)
            let pairs = ["a", "b"].map { "<key>\($0)</key><integer>\(number)</integer>" }.joined(separator: gap)
            return Data("<plist version=\"1.0\"><dict><key>Root</key><dict>\(pairs)</dict></dict></plist>".utf8)
        }
        let url = folder.file()
        try text(1).write(to: url)
        // Sets an old time, so that a write shows even in coarse times.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: url.path)
        let handle = try FileHandle(forWritingTo: url)
        let system = RecordingSystemCalls()
        let reads = Heard<String>()
        // The first call returns the first half of the file.
        system.onCall = { name throws(StorageFailure) in
            guard name == "read" else { return }
            reads.append(name)
            if reads.all.count == 2 { try? handle.write(contentsOf: text(2)) }
        }
        // The next read would find the current file.
        let reading = try FileLocation(path: url.path, system: system).withFile { try $0.read() }
        #expect(reading.content.map { exactForm($0) } == "{'Root': {'a': 2, 'b': 2}}")
        #expect(reads.all.count > 2)
        system.onCall = nil
        try handle.close()
    }

    /// Another process commits after a reader has opened the file and before it has read its status. The reader then
    /// holds a file without a name, which never changes.
    @Test(arguments: [true, false]) func aFileThatIsReplacedWhileItIsOpenedIsOpenedAgain(_ isUpdate: Bool) throws {
        let (file, system) = (folder.file(), RecordingSystemCalls())
        try writePropertyList(["Root": ["a": 2]], to: file)
        var replacement: Data? = try Data(contentsOf: file)
        try writePropertyList(["Root": ["a": 1]], to: file)
        system.afterOpen = { name, _, _ in
            guard name == "test.plist", let new = replacement else { return }
            replacement = nil
            #expect(throws: Never.self) { try new.write(to: file, options: .atomic) }
        }
        let prefs = folder.root(system: system)
        #expect(replacement == nil)
        if isUpdate { prefs.update { prefs["a"] = (prefs["a"] as? Int ?? 0) + 1 } }
        #expect(prefs.ints == ["a": isUpdate ? 3 : 2])
        #expect(try propertyList(at: file)["Root"] as? [String: Int] == prefs.ints)
    }

    /// A file system where an open file does not show that it was replaced, as may happen on NFS.
    private final class SilentRename: SystemCalls, @unchecked Sendable {
        private let lock = Lock()
        private var last: [Descriptor: FileStatus] = [:]
        /// Called once, at the first flush after a rename.
        nonisolated(unsafe) var onFlushOfFolder: (() -> Void)?
        nonisolated(unsafe) private var hasRenamed = false

        override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
            let status = try super.status(of: descriptor)
            return lock.withLock {
                if status.links > 0 { last[descriptor] = status }
                return last[descriptor] ?? status
            }
        }

        override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
            try super.rename(name, to: newName, in: folder)
            hasRenamed = onFlushOfFolder != nil
        }

        override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
            if hasRenamed, let onFlushOfFolder {
                self.onFlushOfFolder = nil
                onFlushOfFolder()
            }
            try super.synchronize(descriptor)
        }
    }

    @Test func theNewStateIsReadWhileTheFolderIsFlushed() throws {
        let system = SilentRename()
        let prefs = folder.root(system: system)
        prefs["a"] = 1
        let seen = Heard<[String: Int]>()
        system.onFlushOfFolder = { inThreads(1) { _ in seen.append(prefs.ints) } }
        prefs["a"] = 2
        #expect(seen.all == [["a": 2]])
        #expect(prefs.ints == ["a": 2])
    }
}
