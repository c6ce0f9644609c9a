@testable import PrefsSupport
import Foundation
import Testing
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences

/// A file that exists and cannot be read is not a damaged file. It stays, nothing is written, the next access tries
/// again, and all accesses succeed once the problem is gone.
@Suite struct UnreadableTests {
    private let folder = TemporaryFolder.fresh
    private let system = RecordingSystemCalls()

    static let faults: [(call: String, codes: [Int32])] = [
        ("open", [EMFILE, ENFILE, EACCES, EPERM, EIO, ENOMEM, ESTALE]), ("read", [EIO, ENOMEM, ESTALE, EISDIR]),
        ("fstat", [EIO, ENOMEM, EOVERFLOW]),
    ]

    /// The last good copy is older than what another program has written since.
    @Test func theKnownStateIsReadAndNotTheCopy() throws {
        let prefs = folder.prefs()
        prefs["a"] = 1
        try writePropertyList(["AnyPrefs": ["a": 4]], to: folder.file())
        #expect(prefs.ints == ["a": 4])
        try FileManager.default.removeItem(at: folder.file())
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: false)
        #expect(prefs.ints == ["a": 4])
    }

    @Test func aSystemCallThatFails() throws {
        folder.prefs().values = ["a": 1, "b": 2]
        let bytes = try Data(contentsOf: folder.file())
        let names = try folder.names()
        var accesses = 0
        for (call, codes) in Self.faults {
            for code in codes {
                for access in AccessKind.allCases {
                    system.onCall = { name throws(StorageFailure) in
                        if name == call { throw StorageFailure(call, "", code: code) }
                    }
                    let prefs = AnyPrefs(store: .propertyList(url: folder.file(), system: system))
                    #expect(!access.run(on: prefs), "\(access)")
                    #expect(!access.run(on: prefs), "\(access)")
                    // Reads tell of the fault once, and the first one was that of the new instance.
                    #expect(prefs.errors.count == (access.isRead ? 1 : 3), "\(access)")
                    switch prefs.lastError {
                    case .unreadable(let failure), .notStored(let failure):
                        #expect(failure.code == code && failure.operation == call, "\(access): \(failure)")
                    default:
                        Issue.record("\(call) \(code) \(access): \(prefs.outcome)")
                    }
                    let isUntouched = try Data(contentsOf: folder.file()) == bytes && folder.names() == names
                    #expect(isUntouched, "\(call) \(code) \(access)")
                    system.onCall = nil
                    let isBack = prefs.ints == ["a": 1, "b": 2] && prefs.lastError == nil
                    #expect(isBack, "\(call) \(code) \(access): \(prefs.outcome)")
                    accesses += 2
                }
            }
        }
        Hazard.report("damage: unreadable: \(accesses) accesses to files that could not be read")
    }

    enum Obstacle: String, CaseIterable {
        case folder = "is a folder"
        case fifo = "is a FIFO"
        case socket = "is a socket"
        case device = "is a device"
        case linkLoop = "Too many levels of symbolic links; expected a link that leads to a file"

        func stand(at path: String) -> Bool {
            switch self {
            case .folder: mkdir(path, 0o700) == 0
            case .fifo: mkfifo(path, 0o600) == 0
            case .socket: mknod(path, S_IFSOCK | 0o600, 0) == 0
            case .device: mknod(path, S_IFCHR | 0o600, 0x103) == 0
            case .linkLoop: symlink(path, path) == 0
            }
        }
    }

    @Test(arguments: Obstacle.allCases) func anotherThingInTheFilesPlace(_ obstacle: Obstacle) throws {
        let path = folder.file().path
        let prefs = AnyPrefs(store: .propertyList(url: folder.file()))
        prefs.values = ["a": 1, "b": 2]
        let kept = folder.file("kept.plist").path
        for access in AccessKind.allCases {
            #expect(rename(path, kept) == 0)
            guard obstacle.stand(at: path) else {
                Hazard.report("damage: unreadable: a \(obstacle): skipped: cannot be made here")
                return
            }
            let before = try SystemCalls.real.status(ofPath: path, followsLinks: false)
            let names = try folder.names()
            // Reads go on with the last known state.
            #expect(access.run(on: prefs) == (access.isRead && access != .flush), "\(access)")
            let failure = try #require(
                prefs.lastError?.detail(of: PrefsError.unreadable), "\(access): \(prefs.outcome)")
            #expect(failure.reason == obstacle.rawValue && failure.path == path, "\(access)")
            #expect(try SystemCalls.real.status(ofPath: path, followsLinks: false) == before, "\(access)")
            #expect(try folder.names() == names, "\(access)")
            #expect(remove(path) == 0)
            #expect(rename(kept, path) == 0)
            #expect(prefs.ints == ["a": 1, "b": 2], "\(access)")
            #expect(prefs.outcome == "ok")
        }
        prefs["a"] = 3
        #expect(folder.prefs().ints == ["a": 3, "b": 2])
        // Nothing is known of this one.
        let other = folder.file("other.plist").path
        #expect(obstacle.stand(at: other))
        let unknown = folder.prefs("other.plist")
        let reason = (obstacle == .linkLoop ? "open: " : "") + obstacle.rawValue
        for access in [AccessKind.read, .write(.subscripted)] {
            #expect(!access.run(on: unknown))
            #expect(unknown.outcome == "\(other): \(reason); the stored state is unchanged")
        }
    }
}
