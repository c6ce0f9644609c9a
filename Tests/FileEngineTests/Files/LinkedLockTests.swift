import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Links with the names of the files that the engine keeps beside a file. Programs that manage dotfiles make them: `stow`
/// links whatever lies beside a settings file.
@Suite final class LinkedLockTests: FolderSuite {
    private let system = RecordingSystemCalls()
    private let reason = "is a link; expected a regular file; remove the link"
    private var names: FileNames { FileNames(path: folder.file().path) }
    private var lock: String { names.path(of: names.lock) }

    private func status(_ path: String) throws -> FileStatus? {
        try SystemCalls.real.status(ofPath: path, followsLinks: false)
    }

    private func makeLink(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            at: folder.file(name), withDestinationURL: folder.file("elsewhere").appending(path: target))
    }

    override init() throws {
        try super.init()
        try FileManager.default.createDirectory(at: folder.file("elsewhere"), withIntermediateDirectories: false)
    }

    /// The folder of the target, or its last part, may be missing.
    @Test(arguments: ["missing/target", "target", "empty"]) func anEmptyLinkIsReplacedByALockFile(_ target: String)
        throws
    {
        let empty = folder.file("elsewhere/empty")
        try Data().write(to: empty)
        let before = try status(empty.path)
        try makeLink(names.lock, to: target)
        let open = OpenFile(try SystemCalls.real.openFolder(folder.path), .real)
        // Whoever makes no lock file changes nothing.
        #expect(try WriteLock.openLockFile(of: names, in: open.descriptor, creates: false, .real) == nil)
        #expect(try status(lock)?.kind == .link)
        let prefs = folder.root()
        for number in 1...2 {
            prefs["a"] = number
            #expect(prefs.outcome == "ok" && folder.root().ints == ["a": number])
        }
        #expect(try status(lock)?.kind == .file && folder.permissions(names.lock) == 0o600)
        #expect(try status(empty.path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/elsewhere") == ["empty"])
    }

    enum Target: CaseIterable {
        case file, folder, device, itself, fileOfAnother, linkOfAnother, onServer

        var isOfAnother: Bool { self == .fileOfAnother || self == .linkOfAnother }
    }

    @Test(arguments: Target.allCases) func anotherLinkIsRejected(_ target: Target) throws {
        if target.isOfAnother {
            guard Hazard.canRun("links of other users", if: geteuid() == 0, else: "only root can make them") else {
                return
            }
        }
        let place = folder.file("elsewhere/target").path
        switch target {
        case .file: try Data("x".utf8).write(to: URL(filePath: place))
        case .folder: mkdir(place, 0o700)
        case .device: symlink("/dev/null", place)
        case .itself: symlink(lock, place)
        case .fileOfAnother, .linkOfAnother: try Data().write(to: URL(filePath: place))
        case .onServer: system.kind = .server
        }
        try makeLink(names.lock, to: "target")
        if target == .fileOfAnother { chown(place, 12_345, 12_345) }
        if target == .linkOfAnother { lchown(lock, 12_345, 12_345) }
        let before = try status(place)
        let prefs = folder.root(system: system)
        prefs["a"] = 1
        #expect(prefs.outcome == "not stored: \(lock): \(reason)")
        #expect(try status(lock)?.kind == .link && status(place) == before)
        #expect(try folder.names() == [names.lock, "elsewhere"])
        unlink(lock)
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
    }

    // MARK: - At once

    private func open(_ system: SystemCalls) throws -> (OpenFile, FileStatus?)? {
        let open = OpenFile(try system.openFolder(folder.path), system)
        return try WriteLock.openLockFile(of: names, in: open.descriptor, creates: true, system)
    }

    /// Calls the closure once, before the next call of that name.
    private func before(_ call: String, _ action: @escaping () -> Void) {
        var isDone = false
        system.onCall = { name in
            guard name == call, !isDone else { return }
            isDone = true
            action()
        }
    }

    /// The second process waits for the first one, which is about to remove the link.
    @Test func aLinkIsReplacedByOneProcessAtATime() throws {
        try makeLink(names.lock, to: "target")
        let second = RecordingSystemCalls()
        before("unlink") { [self] in
            let error = #expect(throws: StorageFailure.self) { try open(second) }
            #expect(error?.reason == reason && second.takeCalls().contains("pause"))
        }
        #expect(try open(system) != nil)
        #expect(try status(lock)?.kind == .file)
        #expect(second.openNow == [])
    }

    /// The second process has replaced the link since the first one saw it. Its lock file stays.
    @Test func aLockFileThatAnotherProcessHasMadeIsNotRemoved() throws {
        try makeLink(names.lock, to: "target")
        var made: FileStatus?
        before("flock") { [self] in
            let isOpen = (try? open(.real)) != nil
            made = isOpen ? try? status(lock) : nil
        }
        #expect(try open(system) == nil)
        #expect(try made?.kind == .file && status(lock) == made)
        #expect(try open(system)?.1 == made)
    }

    /// The lock that keeps the second process out must not outlive the replacement.
    @Test func theFolderIsLockedForAMomentOnly() throws {
        try makeLink(names.lock, to: "target")
        let held = try open(system)
        let folder = OpenFile(try SystemCalls.real.openFolder(folder.path), .real)
        try SystemCalls.real.lock(folder.descriptor, waits: false)
        #expect(held != nil && system.openNow.count == 1)
    }

    @Test func oneOfManyWritersHoldsTheLock() throws {
        let rounds = Hazard.count(20, long: 200)
        for round in 0..<rounds {
            let (names, held) = (FileNames(path: folder.path + "/\(round)"), folder.path + "/held")
            try makeLink(names.lock, to: "target")
            inThreads(8) { _ in
                do {
                    let lock = try #require(try WriteLock(names, creating: .lockFile, system: .real))
                    #expect(mkdir(held, 0o700) == 0)
                    #expect(try lock.isLockFileInPlace())
                    #expect(rmdir(held) == 0)
                    lock.end()
                } catch {
                    Issue.record(error)
                }
            }
        }
    }

    // MARK: - The copy and the temporary file

    /// Their targets may have contents, because they are linked after a write.
    @Test(arguments: ["lastgood", "tmp"], ["missing", "full"]) func aLinkedFileBesideTheFileIsReplaced(
        _ kind: String, _ target: String
    ) throws {
        let full = folder.file("elsewhere/full")
        try Data("full".utf8).write(to: full)
        let name = ".test.plist.\(kind)"
        let prefs = folder.root()
        prefs["a"] = 1
        let before = try status(full.path)
        unlink(folder.file(name).path)
        try makeLink(name, to: target)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && folder.root().ints == ["a": 2])
        #expect(try status(full.path) == before && String(contentsOf: full, encoding: .utf8) == "full")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/elsewhere") == ["full"])
        #expect(try folder.names() == [names.lastGood, names.lock, "elsewhere", "test.plist"])
        #expect(try status(names.path(of: names.lastGood))?.kind == .file)
        // The new copy is used.
        try Data("damage".utf8).write(to: folder.file())
        #expect(folder.root(system: RecordingSystemCalls()).ints == ["a": 2])
    }
}
