import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// The comparisons of a commit before it replaces or removes a file, one at a time. Each difference may be the only
/// trace of another program.
@Suite final class CommitComparisonTests: FolderSuite {
    private let system = Elsewhere()
    private lazy var file = FileLocation(path: folder.file().path, holds: .document, system: system)

    /// Reports the file on another device, as if a folder had been mounted over it.
    private final class Elsewhere: SystemCalls, @unchecked Sendable {
        nonisolated(unsafe) var isMountedOver = false

        override func status(
            ofPath name: String, in folder: Descriptor, followsLinks: Bool
        ) throws(StorageFailure) -> FileStatus? {
            var buffer = stat()
            guard isMountedOver, name == "test.plist", fstatat(folder, name, &buffer, AT_SYMLINK_NOFOLLOW) == 0 else {
                return try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
            }
            buffer.st_dev += 1
            return FileStatus(buffer)
        }
    }

    private func write(_ number: Int?, _ inTheMiddle: () throws -> Void = {}) throws {
        try file.transact(durability: .process) { transaction in
            let value = try number.map { try PropertyListVetter.value(of: ["a": $0]) }
            transaction.replace(TopLevel.documentKey, with: value)
            try inTheMiddle()
        }
    }

    private var stored: String? {
        get throws { try file.withFile { try $0.read().content?[TopLevel.documentKey].map(exactForm) } }
    }

    /// The one difference that another program leaves.
    enum Trace: CaseIterable {
        case time, size, number, device, removal

        var reason: String {
            switch self {
            case .time, .size: "was changed by another program during the update"
            case .number, .device: "was replaced by another program during the update"
            case .removal: "was removed by another program during the update"
            }
        }
    }

    private func leave(_ trace: Trace) throws {
        let path = folder.file().path
        var before = stat()
        #expect(stat(path, &before) == 0)
        let number = trace == .size ? 5_000_000 : 5
        let theirs = try PropertyListCoder.encode(plain: ["a": number], as: .binary)
        #expect((theirs.count == Int(before.st_size)) == (trace != .size))
        func write(to path: String) throws {
            let handle = try FileHandle(forUpdating: URL(filePath: path))
            try handle.write(contentsOf: theirs)
            try handle.close()
            var times = [before.st_mtim, before.st_mtim]
            if trace == .time { times[1].tv_sec -= 1 }
            #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        }
        switch trace {
        case .time, .size: try write(to: path)
        case .number:
            try Data().write(to: folder.file("theirs.plist"))
            try write(to: folder.file("theirs.plist").path)
            #expect(rename(folder.file("theirs.plist").path, path) == 0)
        case .device: system.isMountedOver = true
        case .removal: unlink(path)
        }
    }

    @Test(arguments: Trace.allCases, [2, nil])
    func aFileWithATraceOfAnotherProgramStays(_ trace: Trace, _ new: Int?) throws {
        try write(1)
        let copy = try Data(contentsOf: folder.file(".test.plist.lastgood"))
        expectNotStored(trace.reason) { try write(new) { try leave(trace) } }
        system.isMountedOver = false
        let theirs: [Trace: String] = [
            .time: "{'a': 5}", .size: "{'a': 5000000}", .number: "{'a': 5}", .device: "{'a': 1}",
        ]
        // MissingFileTests checks when a missing file is read.
        if trace != .removal { #expect(try stored == theirs[trace]) }
        #expect(try Data(contentsOf: folder.file(".test.plist.lastgood")) == copy)
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [".test.plist.lastgood", ".test.plist.lock"])
        try write(3)
        #expect(try stored == "{'a': 3}")
    }

    @Test func aFileThatIsMadeDuringTheFirstUpdateStays() throws {
        expectNotStored("was replaced by another program during the update") {
            try write(2) { try writePropertyList(["a": 5], to: folder.file()) }
        }
        #expect(try stored == "{'a': 5}")
    }

    /// An undo restores the state before one commit, and fails if later commits followed.
    @Test func anUndoOfAnOlderCommitChangesNothing() throws {
        let bytes = try (1...3).map { number in
            try write(number)
            return try Data(contentsOf: folder.file())
        }
        let replacement = FileReplacement(path: folder.file().path, before: bytes[0], after: FileBytes(bytes[1]))
        expectNotStored("has changed since the write that would be reverted") {
            try file.revert(replacement)
        }
        #expect(try Data(contentsOf: folder.file()) == bytes[2])
        try file.revert(FileReplacement(path: folder.file().path, before: bytes[1], after: FileBytes(bytes[2])))
        #expect(try Data(contentsOf: folder.file()) == bytes[1])
    }
}
