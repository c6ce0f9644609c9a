@testable import PrefsSupport
import Foundation
import TestSupport
import Testing
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsJSON

/// Names that try to lead elsewhere, and files exchanged in the middle of a write: nothing outside of the file is
/// touched. `ProcessTests` has the cases that need their own process.
@Suite struct SurroundingsTests {
    private let folder = TemporaryFolder.fresh

    init() { mkdir(folder.path + "/inner", 0o700) }

    private func inner() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path + "/inner").sorted()
    }

    // MARK: - Names

    /// `NameVettingTests` has the errors.
    @Test func badRootKeysTouchNothing() throws {
        for name in Name.badRoots.map(\.text) + [String(repeating: "x", count: 10_000)] {
            let store = PrefsStore.propertyList(url: folder.file("inner/test.plist"))
            let prefs = AnyPrefs(key: name, values: ["a": 1], store: store)
            for access in AccessKind.allCases { #expect(!access.run(on: prefs), "\(access)") }
            #expect(try inner().isEmpty)
        }
        #expect(try folder.names() == ["inner"])
    }

    @Test(arguments: [FileFormat].all)
    func goodRootKeysAreNamesInTheFileAndNothingElse(_ format: FileFormat) throws {
        // Two spellings of a letter are one key.
        let names =
            (Array(Set(Name.goodRoots)) + [
                "../../../etc/passwd", "/etc/passwd", "%2e%2e%2f", "CF$UID", "\u{7F}", "<a>&",
            ]).filter { format != .plainXML || ModelText($0).isInXML }
        for (number, name) in names.enumerated() {
            // A new store each time, so that every name is read from the file again.
            let store = PrefsStore.propertyList(url: folder.file("inner/test.plist"), format: format)
            AnyPrefs(key: name, store: store)["a"] = number
        }
        for (number, name) in names.enumerated() {
            let store = PrefsStore.propertyList(url: folder.file("inner/test.plist"), format: format)
            let prefs = AnyPrefs(key: name, store: store)
            #expect(prefs.ints == ["a": number], "\(name.debugDescription.prefix(40))")
        }
        let stored = try ContentCoder.decode(
            Data(contentsOf: folder.file("inner/test.plist")), in: .all
        ).content
        #expect(
            stored.keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
                == names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
        #expect(try inner() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
        #expect(try folder.names() == ["inner"])
    }

    // MARK: - Exchanged for a link

    /// A write to a file in an empty folder, with an interference before the call of that number.
    ///
    /// - Returns: the error of the write, and whether it has that many calls.
    private func write(
        isNew: Bool, interferedAt number: Int, by interfere: @escaping () -> Void
    ) throws -> (error: PrefsError?, wasInterfered: Bool) {
        for name in try inner() { unlink(folder.path + "/inner/" + name) }
        let system = RecordingSystemCalls()
        (system.flushes, system.isClockAhead) = (false, false)
        let prefs = AnyPrefs(store: .propertyList(url: folder.file("inner/test.plist"), system: system))
        if !isNew { prefs["a"] = 1 }
        var calls = 0
        system.onCall = { _ in
            if calls == number { interfere() }
            calls += 1
        }
        let error = prefs.update { $0["a"] = 2 }.failure
        system.onCall = nil
        return (error, calls > number)
    }

    enum Place: String, CaseIterable {
        case file = "test.plist"
        case sidecar = ".test.plist.lock"
        case temporary = ".test.plist.tmp"
        case lastGood = ".test.plist.lastgood"
    }

    /// At every call of a write, the file or folder is exchanged for a link to another file, whose content must never
    /// be replaced or mixed with ours.
    @Test(arguments: Place.allCases) func exchangedForALink(_ place: Place) throws {
        var situations = 0
        for isNew in [false, true] {
            // In the usual form, at every other call.
            var number = isNew && !Hazard.isLong ? 1 : 0
            while try exchange(place, at: number, isNew: isNew) {
                number += Hazard.count(2, long: 1)
                situations += 1
            }
            #expect(number > 10)
        }
        Hazard.report("surroundings: \(place) exchanged for a link: \(situations) situations")
    }

    /// - Returns: whether the write has that many calls.
    private func exchange(_ place: Place, at number: Int, isNew: Bool) throws -> Bool {
        let (file, other, kept) = (folder.file("inner/test.plist"), folder.file("other.plist"), folder.file("kept"))
        try writePropertyList(["AnyPrefs": ["b": 7], "Theirs": ["x": 1]], to: other)
        let otherBytes = try Data(contentsOf: other)
        unlink(kept.path)
        let path = folder.path + "/inner/" + place.rawValue
        let (error, wasInterfered) = try write(isNew: isNew, interferedAt: number) {
            rename(path, kept.path)
            symlink(other.path, path)
        }
        guard wasInterfered else { return false }

        let situation: Comment = "\(place) at call \(number), new \(isNew), \(error.map { "\($0)" } ?? "ok")"
        let list = try propertyList(at: other)
        let roots = [list["AnyPrefs"] as? [String: Int], list["Theirs"] as? [String: Int]]
        // A link that existed before the file was read is followed, and one key is changed there.
        let isFollowed = place == .file && error == nil && list.count == 2 && roots == [["a": 2, "b": 7], ["x": 1]]
        #expect(try isFollowed || Data(contentsOf: other) == otherBytes, situation)
        if place == .file, FileManager.default.fileExists(atPath: kept.path) {
            // The file that was moved away has the old state or the new one.
            let state = try propertyList(at: kept)["AnyPrefs"] as? [String: Int]
            #expect(state == ["a": 1] || state == ["a": 2], situation)
        }
        unlink(path)
        let later = AnyPrefs(store: .propertyList(url: file))
        later["c"] = 3
        #expect(later.lastError?.isWarning != false, situation)
        #expect(try !inner().contains(Place.temporary.rawValue), situation)
        return true
    }

    /// At every call of a write, another user replaces the file's folder by a link to a folder, and restores it
    /// afterwards. Nothing in the other folder is touched.
    @Test(
        .enabled(if: Hazard.canRun("surroundings: folder exchanged", if: geteuid() == 0, else: "only root can do that"))
    )
    func aFolderExchangedForALinkOfAnotherUser() throws {
        let (inner, kept, treasury) = (folder.path + "/inner", folder.path + "/kept", folder.path + "/treasury")
        mkdir(treasury, 0o700)
        try writePropertyList(["AnyPrefs": ["b": 7]], to: folder.file("treasury/test.plist"))
        let before = try FolderState(in: treasury)
        var (number, isOver) = (0, false)
        while !isOver {
            for isNew in [false, true] {
                let (error, wasInterfered) = try write(isNew: isNew, interferedAt: number) {
                    rename(inner, kept)
                    symlink(treasury, inner)
                    lchown(inner, 22_222, 22_222)
                }
                #expect(try FolderState(in: treasury) == before, "call \(number), new \(isNew)")
                if wasInterfered {
                    unlink(inner)
                    rename(kept, inner)
                } else {
                    isOver = true
                }
                let later = AnyPrefs(store: .propertyList(url: folder.file("inner/test.plist")))
                #expect(error != nil || later.ints == ["a": 2], "call \(number), new \(isNew)")
                later["c"] = 3
                #expect(later.outcome == "ok", "call \(number), new \(isNew)")
            }
            number += 1
        }
        #expect(number > 10)
        Hazard.report("surroundings: a folder exchanged for another user's link: \(2 * number) situations")
    }

    // MARK: - From its first moment

    @Test func nothingIsEverMadeForOthers() {
        final class Making: SystemCalls, @unchecked Sendable {
            nonisolated(unsafe) var files: [mode_t] = []
            nonisolated(unsafe) var folders: [mode_t] = []
            override func open(
                _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
            ) throws(StorageFailure) -> Descriptor {
                if flags & O_CREAT != 0 {
                    files.append(mode)
                    #expect(flags & O_EXCL != 0 && flags & O_NOFOLLOW != 0, "\(name) may be another's")
                }
                return try super.open(name, in: folder, flags, mode: mode)
            }
            override func makeFolder(_ name: String, in folder: Descriptor, mode: mode_t) throws(StorageFailure) {
                folders.append(mode)
                try super.makeFolder(name, in: folder, mode: mode)
            }
        }
        let system = Making()
        let prefs = AnyPrefs(store: .propertyList(url: folder.file("deep/er/test.plist"), system: system))
        prefs["a"] = 1
        prefs["a"] = 2
        #expect(prefs.outcome == "ok")
        // The lock file, twice the file, and the copy, which the second write finds.
        #expect(system.files == Array(repeating: 0o600, count: 4))
        #expect(system.folders.allSatisfy { $0 == 0o700 })
    }
}
