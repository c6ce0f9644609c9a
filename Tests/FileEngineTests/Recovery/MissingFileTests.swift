import Foundation
import PrefsDocuments
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// A file that is missing for a moment, because another program is saving it, and one that has been deleted.
@Suite final class MissingFileTests: FolderSuite {
    private let system = RecordingSystemCalls()
    private var pauses = 0
    /// Called before a write looks for the file again, with the number of such looks.
    private var inPause: ((Int) throws -> Void)?

    override init() throws {
        try super.init()
        showsSave(0)
        system.onCall = { [unowned self] call in
            guard call == "pause" else { return }
            pauses += 1
            #expect(throws: Never.self) { try inPause?(pauses) }
        }
        // Another program that uses the package. Its commit makes the last good copy.
        folder.root().values = ["a": 1, "b": 2]
    }

    /// Lets the clock show how long ago the folder has changed, in milliseconds.
    private func showsSave(_ milliseconds: Int) {
        system.age = (folder.path, .milliseconds(milliseconds))
    }

    private func moveAway() throws {
        try FileManager.default.moveItem(at: folder.file(), to: folder.file("test.plist~"))
    }

    /// It knows no state, and the last good copy may be of a file that a person has deleted.
    @Test(arguments: [1, 5]) func aProcessThatStartsDuringASaveWaits(_ pause: Int) throws {
        try moveAway()
        inPause = { [folder] number in
            if number == pause { try writePropertyList(["Root": ["a": 5]], to: folder.file()) }
        }
        let prefs = folder.root(system: system)
        #expect(prefs.ints == ["a": 5] && prefs.outcome == "ok" && pauses == pause)
    }

    /// `rm f; ./app`. It waits once, not at each read.
    @Test func aProcessThatStartsAfterARemovalReadsNothing() throws {
        try FileManager.default.removeItem(at: folder.file())
        let prefs = folder.root(system: system)
        for _ in 0..<3 { #expect(prefs.ints == [:] && prefs.outcome == "ok") }
        #expect(pauses == 5)
        // A layer does not wait.
        let layer = RecordingSystemCalls()
        layer.age = system.age
        #expect(try FileLocation(path: folder.file().path, system: layer).read(.none).content == nil)
        #expect(!layer.takeCalls().contains("pause"))
    }

    /// A person has deleted the file, and starts the program later, or the clock was set back in the meantime.
    @Test(arguments: [250, -1_000, -86_400_000]) func aFileThatWasDeletedLongAgoIsMissing(_ elapsed: Int) throws {
        let prefs = folder.root(system: system)
        #expect(prefs.ints == ["a": 1, "b": 2])
        try FileManager.default.removeItem(at: folder.file())
        showsSave(elapsed)
        system.elapse(.seconds(1))
        #expect(prefs.ints == [:])
        #expect(folder.root(system: system).ints == [:] && pauses == 0)
    }

    @Test func oneCopyOfAMissingFileIsKept() throws {
        for number in 1...3 {
            try FileManager.default.removeItem(at: folder.file())
            folder.root().values = ["a": number]
            #expect(try folder.quarantined == ["test.plist.corrupt-missing"])
        }
        let bytes = try CheckedCopy.bytes(of: Data(contentsOf: folder.file("test.plist.corrupt-missing")))
        #expect(try propertyList(from: bytes)["Root"] as? [String: Int] == ["a": 2])
    }

    private static func changed(_ path: String) throws -> FileStatus.Time {
        try #require(try SystemCalls.real.status(ofPath: path, followsLinks: false)).changed
    }

    /// Another process stores a state whose copy has a later time than the file has. The clock of the stamps has steps.
    ///
    /// - Returns: the value of `a`, the only one.
    private func storeNewerState() throws -> Int {
        let (known, copy) = (try Self.changed(folder.file().path), folder.file(".test.plist.lastgood").path)
        var number = 2
        repeat {
            number += 1
            folder.root().values = ["a": number]
        } while try #require(try SystemCalls.real.status(ofPath: copy, followsLinks: false)).modified <= known
        return number
    }

    /// The package stores 5, another program 6. A new mode of the copy makes its state no newer.
    @Test func aCopyWithANewModeIsNoNewerState() throws {
        let prefs = folder.root()
        prefs.values = ["a": 5]
        try writePropertyList(["Root": ["a": 6]], to: folder.file())
        #expect(prefs.ints == ["a": 6])
        let copy = folder.file(".test.plist.lastgood").path
        // The clock of the stamps has steps.
        repeat { #expect(chmod(copy, 0o640) == 0) } while try Self.changed(copy) <= Self.changed(folder.file().path)
        try Data("hello".utf8).write(to: folder.file())
        #expect(prefs.ints == ["a": 6])
        prefs["b"] = 1
        #expect(prefs.ints == ["a": 6, "b": 1])
    }

    @Test func after250MillisecondsTheFileIsMissing() throws {
        let prefs = folder.root(system: system)
        try moveAway()
        // Meanwhile, a read returns what this process has read before.
        #expect(prefs.ints == ["a": 1, "b": 2] && prefs.outcome == "ok")
        showsSave(249)
        #expect(prefs.ints == ["a": 1, "b": 2] && prefs.outcome == "ok")
        showsSave(250)
        #expect(prefs.ints == [:])
        showsSave(0)
        #expect(prefs.ints == [:])
        // The next save begins a new wait.
        try writePropertyList(["Root": ["a": 3]], to: folder.file())
        #expect(prefs.ints == ["a": 3])
        try FileManager.default.removeItem(at: folder.file())
        #expect(prefs.ints == ["a": 3])
    }

    /// A file that only people write has none.
    @Test func withoutALastGoodCopyTheKnownStateIsRead() throws {
        let prefs = folder.root(system: system)
        try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood"))
        try moveAway()
        #expect(prefs.ints == ["a": 1, "b": 2] && prefs.outcome == "ok" && pauses == 0)
        // A process that knows nothing does not wait.
        #expect(folder.root(system: RecordingSystemCalls()).ints == [:])
        prefs["a"] = 6
        #expect(pauses == 25)
        #expect(prefs.errors.last?.report?.place == "\(folder.file().path): was missing, and had values before")
        #expect(prefs.ints == ["a": 6])
        #expect(try folder.quarantined == ["test.plist.corrupt-missing"])
        let bytes = try CheckedCopy.bytes(of: Data(contentsOf: folder.file("test.plist.corrupt-missing")))
        #expect(try propertyList(from: bytes)["Root"] as? [String: Int] == ["a": 1, "b": 2])
    }

    /// A command gives a new file the permissions of the umask, but not what it keeps beside it.
    @Test func whatACommandKeepsIsForItsUserAlone() throws {
        let prefs = folder.root(system: system)
        try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood"))
        try moveAway()
        ToolHook.$current.withValue(ToolHook(ownFiles: [])) { prefs["a"] = 6 }
        let kept = folder.file("test.plist.corrupt-missing").path
        #expect(try SystemCalls.real.status(ofPath: kept, followsLinks: false)?.permissions == 0o600)
    }

    /// The state of the file is newer than its copy.
    @Test func theNewestKnownStateIsKept() throws {
        let prefs = folder.root(system: system)
        try writePropertyList(["Root": ["a": 7]], to: folder.file())
        #expect(prefs.ints == ["a": 7])
        try FileManager.default.removeItem(at: folder.file())
        prefs["c"] = 3
        let bytes = try CheckedCopy.bytes(of: Data(contentsOf: folder.file("test.plist.corrupt-missing")))
        #expect(try propertyList(from: bytes)["Root"] as? [String: Int] == ["a": 7])
    }

    /// Another process has stored a state that this one has not read.
    @Test func theCopyIsKeptIfItIsNewer() throws {
        let prefs = folder.root(system: system)
        let number = try storeNewerState()
        try FileManager.default.removeItem(at: folder.file())
        prefs["c"] = 3
        let bytes = try CheckedCopy.bytes(of: Data(contentsOf: folder.file("test.plist.corrupt-missing")))
        #expect(try propertyList(from: bytes)["Root"] as? [String: Int] == ["a": number])
    }

    /// `mv f f~`, then a new f. Nothing of either program is lost.
    @Test(arguments: [1, 5]) func aWriteDuringASaveWaitsForTheNewFile(_ pause: Int) throws {
        let prefs = folder.root(system: system)
        try moveAway()
        inPause = { [folder] number in
            if number == pause { try writePropertyList(["Root": ["a": 5, "b": 2, "c": 7]], to: folder.file()) }
        }
        prefs["a"] = 6
        #expect(prefs.outcome == "ok")
        #expect(prefs.ints == ["a": 6, "b": 2, "c": 7])
        #expect(try pauses == pause && folder.quarantined == [])
    }

    /// A write that equals the state that reads return must wait, too, because that state is stored nowhere if the file
    /// does not come back.
    @Test(arguments: [true, false]) func anEqualWriteWaitsToo(_ comesBack: Bool) throws {
        let prefs = folder.root(system: system)
        try moveAway()
        inPause = { [folder] number in
            if number == 2, comesBack { try writePropertyList(["Root": ["a": 1]], to: folder.file()) }
        }
        prefs["a"] = 1
        #expect(prefs.lastError?.isWarning ?? comesBack)
        #expect(try propertyList(at: folder.file())["Root"] as? [String: Int] == ["a": 1])
    }

    /// The program itself has removed the file, so nothing is lost, and no save is awaited.
    @Test func aFileThatThisProgramHasRemovedIsNotAwaited() throws {
        let url = folder.file("document.plist")
        let location = FileLocation(path: url.path, holds: .document, system: system)
        for value in [StoredValue(1), nil, StoredValue(2)] {
            try location.transact(durability: .process) { $0.replace(TopLevel.documentKey, with: value) }
            #expect(try location.read().content?[TopLevel.documentKey] == value)
            #expect(FileManager.default.fileExists(atPath: url.path) == (value != nil))
        }
        #expect(try pauses == 0 && location.takeWarning() == nil && folder.quarantined == [])
    }

    @Test func aWriteToADeletedFileKeepsItsCopyAndWarns() throws {
        let prefs = folder.root(system: system)
        try FileManager.default.removeItem(at: folder.file())
        prefs["c"] = 3
        #expect(prefs.ints == ["c": 3])
        #expect(pauses == 25)
        let name = try #require(try folder.quarantined.first)
        #expect(prefs.errors.last?.isWarning == true)
        let report = try #require(prefs.errors.last?.report)
        #expect(report.place == "\(folder.file().path): was missing, and its last good copy was there")
        #expect(report.quarantinedAs == folder.file(name).path && report.state == .nothing)
        let bytes = try CheckedCopy.bytes(of: Data(contentsOf: folder.file(name)))
        #expect(try propertyList(from: bytes)["Root"] as? [String: Int] == ["a": 1, "b": 2])
        // Warned only once, because the copy now belongs to the new file.
        prefs["c"] = 4
        #expect(prefs.outcome == "ok")
        #expect(try folder.quarantined == [name])
    }

    @Test func aFailedWriteKeepsTheCopyInItsPlace() throws {
        let system = RecordingSystemCalls()
        let prefs = folder.root(system: system)
        try FileManager.default.removeItem(at: folder.file())
        let before = try folder.names()
        system.fail("rename", with: EIO)
        prefs["c"] = 3
        #expect(prefs.outcome == "not stored: \(folder.file().path): rename: Input/output error")
        #expect(try folder.names() == before)
    }

    @Test(.enabled(if: Hazard.canRun("files of other users", if: geteuid() == 0, else: "only root can make them")))
    func aCopyOfAnotherUserIsNotRead() throws {
        chown(folder.file(".test.plist.lastgood").path, 12_345, 12_345)
        try moveAway()
        let prefs = folder.root(system: system)
        #expect(prefs.ints == [:] && pauses == 0)
        // Nor is it kept as the state that was lost.
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(try folder.quarantined == [])
    }

    /// The copy of the user's program is newer than what this program of root knows: during a save, and after a removal.
    @Test(.enabled(if: Hazard.canRun("files of other users", if: geteuid() == 0, else: "only root can make them")))
    func theCopyOfTheOwnerOfTheFolderIsReadAndKept() throws {
        let prefs = folder.root(system: system)
        #expect(prefs.ints == ["a": 1, "b": 2])
        let number = try storeNewerState()
        for path in [folder.path, folder.file(".test.plist.lastgood").path] {
            #expect(chown(path, 12_345, 12_345) == 0)
        }
        try FileManager.default.removeItem(at: folder.file())
        #expect(prefs.ints == ["a": number] && prefs.outcome == "ok")
        let bytes = try Data(contentsOf: folder.file(".test.plist.lastgood"))
        let late = folder.root(system: RecordingSystemCalls())
        late["c"] = 3
        #expect(late.lastError?.isWarning == true && late.ints == ["c": 3])
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [bytes])
    }

    @Test(arguments: [FileFormat.binary, .plainXML, .xml]) func whatIsKeptHasTheFormOfTheFile(_ format: FileFormat)
        throws
    {
        let text = "<plist><dict> <key>Root</key><dict><key>a</key><integer>1</integer></dict></dict></plist>"
        try Data(text.utf8).write(to: folder.file("text.plist"))
        if format.name == FileFormat.binary.name {
            try writePropertyList(["Root": ["a": 1]], to: folder.file("text.plist"), as: .binary)
        }
        let prefs = FileRoot(folder.file("text.plist").path, format: format, system: RecordingSystemCalls())
        #expect(prefs.ints == ["a": 1])
        try FileManager.default.removeItem(at: folder.file("text.plist"))
        prefs["b"] = 2
        let bytes = try CheckedCopy.bytes(of: Data(contentsOf: folder.file("text.plist.corrupt-missing")))
        let ints = try PropertyListCoder.decode(bytes, as: [format]).value.dictionary?["Root"]?.dictionary?.objects
        #expect(ints as? [String: Int] == ["a": 1])
        if format.coder.isForPeople { #expect(bytes == Data(text.utf8)) }
    }

    /// A limit that begins anew with each wait does not begin anew with each look.
    @Test func aWaitForASaveHasOneEnd() throws {
        let prefs = folder.root(system: system)
        try moveAway()
        let limit: TimeInterval = 0.005
        var end: DispatchTime?
        inPause = { _ in
            end = end ?? .now() + limit
            while let end, DispatchTime.now() <= end {}
        }
        LockWait.$current.withValue(LockWait(timeout: limit) { _ in }) { prefs["a"] = 6 }
        #expect(prefs.outcome == "busy: \(folder.file().path): another program is still saving it after 0.005 s")
        #expect(pauses <= 1)
    }

    /// A program of root reads the files of a user. The copy of the owner of the folder tells of a save.
    @Test(.enabled(if: Hazard.canRun("files of other users", if: geteuid() == 0, else: "only root can make them")))
    func aFileOfTheOwnerOfTheFolderIsAwaited() throws {
        for path in [folder.path, folder.file(".test.plist.lastgood").path, folder.file().path] {
            #expect(chown(path, 12_345, 12_345) == 0)
        }
        try moveAway()
        inPause = { [folder] number in
            if number == 2 { try FileManager.default.moveItem(at: folder.file("test.plist~"), to: folder.file()) }
        }
        #expect(folder.root(system: system).ints == ["a": 1, "b": 2] && pauses == 2)
    }

    /// This process saw earlier that the file was missing. Another process made it, and an editor is saving it now.
    @Test func aFileThatWasMissingBeforeMayBeSavedNow() throws {
        let prefs = folder.root(system: system)
        try moveAway()
        // More than 250 ms before the second look.
        showsSave(-40)
        system.elapse(.milliseconds(270))
        #expect(prefs.ints == [:])
        showsSave(30)
        folder.root().values = ["a": 3, "b": 4]
        try FileManager.default.moveItem(at: folder.file(), to: folder.file("test.plist.new"))
        inPause = { [folder] number in
            if number == 2 {
                try FileManager.default.moveItem(at: folder.file("test.plist.new"), to: folder.file())
            }
        }
        prefs["c"] = 3
        #expect(prefs.ints == ["a": 3, "b": 4, "c": 3])
    }

    /// Another process has made the file in the meantime.
    @Test func aSecondAbsenceIsNotReadAsTheFirstOne() throws {
        let prefs = folder.root(system: system)
        #expect(prefs.ints == ["a": 1, "b": 2])
        try moveAway()
        #expect(prefs.ints == ["a": 1, "b": 2])
        folder.root().values = ["a": 3]
        try FileManager.default.removeItem(at: folder.file())
        #expect(prefs.ints == ["a": 3])
    }

    /// If stamps are whole seconds, the folder may have changed up to a second after its stamp, on FAT two seconds.
    @Test func aCoarseStampOfTheFolderIsNoReasonForHaste() throws {
        let prefs = folder.root(system: system)
        try moveAway()
        let times = [timespec(tv_sec: time(nil), tv_nsec: 0), timespec(tv_sec: time(nil), tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, folder.path, times, 0) == 0)
        #expect(prefs.ints == ["a": 1, "b": 2])
    }
}
