import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// A removed file does not come back, an undo to foreign bytes is complete, and a quarantine keeps the bytes that were
/// read.
@Suite final class RemovalTests: FolderSuite {
    private let system = RecordingSystemCalls()
    private lazy var file = FileLocation(path: folder.file().path, holds: .document, system: system)

    private func store(_ text: String?) throws {
        try file.transact(durability: .powerCut) {
            $0.replace(TopLevel.documentKey, with: text.map(StoredValue.string))
        }
    }

    private func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.file(name).path) }

    private let damage = Data("bplist00 damaged".utf8)

    enum Removal: CaseIterable { case commit, undo }

    @Test(arguments: Removal.allCases) func theCopyIsRemovedBeforeTheFile(_ removal: Removal) throws {
        try store("a")
        let bytes = try Data(contentsOf: folder.file())
        nonisolated(unsafe) var removals = 0
        nonisolated(unsafe) var returns = 0
        system.onCall = { name throws(StorageFailure) in
            if name == "unlink" { removals += 1 }
            // A kill at this moment would bring back the file.
            if !self.isThere("test.plist"), self.isThere(".test.plist.lastgood") { returns += 1 }
        }
        switch removal {
        case .commit: try store(nil)
        case .undo:
            let replacement = FileReplacement(path: folder.file().path, before: nil, after: FileBytes(bytes))
            nonisolated(unsafe) var recorded: [FileReplacement] = []
            try ToolHook.$current.withValue(ToolHook(committed: { recorded.append($0) })) {
                try file.revert(replacement)
            }
            // The undo, too, can be undone.
            #expect(recorded.map(\.before) == [bytes] && recorded.map(\.after?.count) == [nil])
        }
        system.onCall = nil
        #expect(returns == 0)
        #expect(removals >= 2 && !isThere("test.plist") && !isThere(".test.plist.lastgood"))
    }

    /// With a last good copy, the foreign bytes would count as damage of a file of this package.
    @Test func anUndoToForeignBytesRemovesTheCopyAndIsRecorded() throws {
        try store("a")
        let bytes = try Data(contentsOf: folder.file())
        let foreign = Data("hello".utf8)
        nonisolated(unsafe) var recorded: [FileReplacement] = []
        let undo = FileReplacement(path: folder.file().path, before: foreign, after: FileBytes(bytes))
        try ToolHook.$current.withValue(ToolHook(committed: { recorded.append($0) })) {
            try file.revert(undo)
        }
        #expect(try Data(contentsOf: folder.file()) == foreign)
        #expect(!isThere(".test.plist.lastgood"))
        #expect(recorded.map(\.before) == [bytes] && recorded.map(\.after?.joined) == [foreign])
        #expect(try file.withFile { try $0.read() }.warning?.text.hasPrefix("not ours: ") == true)
        // The undo of that undo replaces exactly these bytes, so they are not kept.
        try file.revert(FileReplacement(path: folder.file().path, before: bytes, after: FileBytes(foreign)))
        #expect(try Data(contentsOf: folder.file()) == bytes && folder.quarantined == [])
    }

    @Test func anUndoToForeignBytesIsGivenUpIfTheCopyStays() throws {
        try store("a")
        let bytes = try Data(contentsOf: folder.file())
        system.fail("unlink", with: EIO)
        expectNotStored("Input/output error") {
            try file.revert(
                FileReplacement(path: folder.file().path, before: Data("hello".utf8), after: FileBytes(bytes)))
        }
        #expect(try Data(contentsOf: folder.file()) == bytes && isThere(".test.plist.lastgood"))
    }

    /// On FAT, of a file of another user, and of one that has as many names as it can have. Any other error is one.
    @Test(arguments: [EPERM, ENOTSUP, EMLINK, ENOSYS, EIO])
    func aDamagedFileThatCannotHaveASecondNameIsCopied(_ code: Int32) throws {
        try store("a")
        try damage.write(to: folder.file())
        system.fail("link", with: code)
        if code == EIO {
            expectNotStored("Input/output error") { try store("b") }
            #expect(try Data(contentsOf: folder.file()) == damage && folder.quarantined == [])
            return
        }
        try store("b")
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [damage])
        #expect(file.takeWarning()?.isWarning == true)
    }

    /// A migration of the known state gives a value that does not fit. What is in quarantine is the damage.
    @Test(arguments: ["b", nil]) func damageIsToldAndNotTheReasonToKeepAGoodFile(_ new: String?) throws {
        try store("a")
        try damage.write(to: folder.file())
        try file.transact(durability: .powerCut) {
            $0.reasonToKeepFormer = "has another type"
            $0.replace(TopLevel.documentKey, with: new.map(StoredValue.string))
        }
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [damage])
        let report = try #require(file.takeWarning()?.report)
        #expect(report.reason != "has another type" && !report.isWellFormed && report.state == .lastKnown)
    }

    /// Where a file cannot have a second name, its bytes are copied. A copy of bytes that change meanwhile would be a
    /// copy of no state.
    @Test func aFileThatChangesWhileItIsCopiedIsNotQuarantined() throws {
        try store("a")
        try damage.write(to: folder.file())
        _ = try file.withFile { try $0.read() }
        nonisolated(unsafe) var isLinking = false
        nonisolated(unsafe) var hasChanged = false
        let path = folder.file().path
        system.onCall = { name throws(StorageFailure) in
            if name == "link" {
                isLinking = true
                throw StorageFailure("link", path, code: EPERM)
            }
            // After the bytes were read, before the file's status is compared.
            guard isLinking, !hasChanged, name == "fstat" else { return }
            hasChanged = true
            try? Data("bplist00 otherwise".utf8).write(to: URL(filePath: path), options: [])
        }
        expectNotStored("was changed during the attempt") { try store("b") }
        system.onCall = nil
        #expect(hasChanged)
        #expect(try Data(contentsOf: folder.file()) == Data("bplist00 otherwise".utf8))
        #expect(try folder.quarantined == [])
    }

    /// A good file that is kept for a reason. An attempt that fails leaves no second name.
    @Test(arguments: ["b", nil]) func aFileOfAnotherTypeIsQuarantinedOnce(_ new: String?) throws {
        try store("a")
        let bytes = try Data(contentsOf: folder.file())
        func replace() throws {
            try file.transact(durability: .powerCut) {
                $0.reasonToKeepFormer = "has another type"
                $0.replace(TopLevel.documentKey, with: new.map(StoredValue.string))
            }
        }
        let call = new == nil ? "unlink" : "rename"
        system.onCall = { name throws(StorageFailure) in
            guard name == call else { return }
            self.system.onCall = nil
            throw StorageFailure(call, "", code: EIO)
        }
        expectNotStored("Input/output error") { try replace() }
        #expect(try folder.quarantined == [] && Data(contentsOf: folder.file()) == bytes)
        #expect(file.takeWarning() == nil)
        try replace()
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [bytes])
        let report = try #require(file.takeWarning()?.report)
        #expect(report.reason == "has another type" && report.isWellFormed)
        #expect(report.quarantinedAs.map { [URL(filePath: $0).lastPathComponent] } == (try folder.quarantined))
    }

    @Test func theRemovalOfADamagedFileSaysWhereItsBytesAre() throws {
        try store("a")
        try damage.write(to: folder.file())
        try store(nil)
        let path = try #require(file.takeWarning()?.report?.quarantinedAs)
        #expect(try Data(contentsOf: URL(filePath: path)) == damage)
        #expect(!isThere("test.plist") && !isThere(".test.plist.lastgood"))
    }

    /// The file and its last good copy are damaged.
    @Test(arguments: [TopLevel.document, .domain])
    func damageOfWhichNothingIsKnownIsQuarantinedByAnEqualWrite(_ topLevel: TopLevel) throws {
        try store("a")
        try damage.write(to: folder.file())
        try Data("PrefsCopy 1 ".utf8).write(to: folder.file(".test.plist.lastgood"))
        let session = try PropertyListFile(path: folder.file().path, holds: topLevel).begin()
        #expect(session.content == nil)
        nonisolated(unsafe) var recorded: [FileReplacement] = []
        try ToolHook.$current.withValue(ToolHook(committed: { recorded.append($0) })) {
            try session.commit([:], durability: .powerCut)
        }
        session.end()
        // An undo has nothing to bring back: the bytes are in quarantine.
        if topLevel == .domain { #expect(recorded.map(\.before) == [nil] && recorded.map(\.after?.count) == [nil]) }
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [damage])
        #expect(!isThere("test.plist"))
    }

    /// The next commit may never come.
    @Test func theTemporaryFileOfAKilledWriterGoesWithoutACommit() throws {
        try store("a")
        let file = PropertyListFile(path: folder.file().path, holds: .document)
        try Data("half".utf8).write(to: folder.file(file.names.temporary))
        try file.begin().end()
        #expect(!isThere(file.names.temporary) && isThere("test.plist"))
    }
}
