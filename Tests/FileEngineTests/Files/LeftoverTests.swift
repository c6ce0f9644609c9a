import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Each system call of a write fails once, wherever a write makes more than its file: second names, copies in quarantine, a lock file
/// beside a file of others. A write that was given up leaves everything as it was.
@Suite struct LeftoverTests {
    enum Situation: CaseIterable {
        case damaged, damagedWithoutLinks, damagedAndRemoved, missingAndKnown, missingWithCopy, emptied
        case keptForAReason, keptAndRemoved, ofOthers, withoutCopy, nothing

        var removes: Bool { self == .damagedAndRemoved || self == .keptAndRemoved }
        var hasReason: Bool { self == .keptForAReason || self == .keptAndRemoved }
        /// The files that a write leaves in quarantine.
        var quarantined: Int { [.ofOthers, .withoutCopy, .nothing].contains(self) ? 0 : 1 }
    }

    /// A file in its folder, and a program that is about to write it.
    private final class Rig {
        let situation: Situation
        let folder: TemporaryFolder
        let system = RecordingSystemCalls()
        let location: FileLocation

        init(_ situation: Situation) throws {
            self.situation = situation
            folder = try TemporaryFolder()
            system.flushes = false
            let path = folder.file().path
            location = FileLocation(path: path, holds: .document, system: system)
            if situation == .nothing { return }
            if situation == .ofOthers {
                try writePropertyList("a", to: folder.file())
                return
            }
            let other = FileLocation(path: path, holds: .document, system: RecordingSystemCalls())
            try other.transact(durability: .process) { $0.replace(TopLevel.documentKey, with: .string("a")) }
            if situation == .missingAndKnown { _ = try location.read() }
            if [.missingAndKnown, .withoutCopy].contains(situation) {
                unlink(folder.file(".test.plist.lastgood").path)
            }
            switch situation {
            case .damaged, .damagedAndRemoved, .damagedWithoutLinks:
                try Data("bplist00 damaged".utf8).write(to: folder.file())
            case .missingAndKnown, .missingWithCopy: unlink(path)
            case .emptied: try Data().write(to: folder.file())
            default: break
            }
            if situation != .damagedWithoutLinks { return }
            system.onCall = { name throws(StorageFailure) in
                if name == "link" { throw StorageFailure("link", "", code: EPERM) }
            }
        }

        func write() -> FileError? {
            let hook = situation == .ofOthers ? ToolHook(ownFiles: []) : nil
            do {
                try ToolHook.$current.withValue(hook) {
                    try location.transact(durability: .powerCut) {
                        if situation.hasReason { $0.reasonToKeepFormer = "has another type" }
                        $0.replace(TopLevel.documentKey, with: situation.removes ? nil : .string("b"))
                    }
                }
                return nil
            } catch {
                return error as? FileError
            }
        }

        func files() throws -> [String: Data] {
            try folder.names().reduce(into: [:]) { $0[$1] = try Data(contentsOf: folder.file($1)) }
        }
    }

    /// Another program leaves the file malformed when the command has just taken the lock.
    @Test(arguments: ["<plist><dict><key>a</dict></plist>", "{"]) func aCommandThatIsRejectedUnderItsLockLeavesNothing(
        _ text: String
    ) throws {
        let rig = try Rig(.ofOthers)
        rig.system.onCall = { [folder = rig.folder] name in
            if name == "flock" { try? Data(text.utf8).write(to: folder.file()) }
        }
        #expect(rig.write()?.text.hasPrefix("not ours: ") == true)
        #expect(try rig.files() == ["test.plist": Data(text.utf8)])
    }

    @Test(arguments: Situation.allCases) func aWriteThatWasGivenUpLeavesNothing(_ situation: Situation) throws {
        var (number, givenUp) = (1, 0)
        while let isGivenUp = try inject(EIO, at: number, situation) {
            givenUp += isGivenUp ? 1 : 0
            number += 1
        }
        #expect(number > 20 && givenUp > 5, "\(number) \(givenUp)")
    }

    /// - Returns: whether the write was given up; nil if there are fewer calls.
    private func inject(_ code: Int32, at number: Int, _ situation: Situation) throws -> Bool? {
        let system: RecordingSystemCalls
        let isGivenUp: Bool
        do {
            let rig = try Rig(situation)
            system = rig.system
            let before = try rig.files()
            system.failCall(number, with: code)
            let error = rig.write()
            guard let call = system.failedCall else { return nil }
            system.heal()
            let place: Comment = "\(situation): call \(number), \(call): \(error?.text ?? "ok")"
            var after = try rig.files()
            switch error {
            case .notStored(let failure), .unreadable(let failure):
                isGivenUp = true
                #expect(failure.path.hasPrefix("/"), place)
                let (lock, copy) = (".test.plist.lock", ".test.plist.lastgood")
                // A lock file stays. Beside a file of others it does not, unless it was not locked.
                if situation != .ofOthers || [lock, copy].contains(where: failure.path.hasSuffix) {
                    after[lock] = before[lock]
                }
                // The copy is removed first, because a kill in between would bring the file back.
                let isHalfRemoved = situation.removes && call == "unlink" && after[copy] == nil
                if isHalfRemoved { after[copy] = before[copy] }
                #expect(after == before, place)
                #expect(rig.location.takeWarning() == nil, place)
                if isHalfRemoved { return true }
                #expect(rig.write() == nil, place)
                after = try rig.files()
            default: isGivenUp = false
            }
            let names = after.keys.filter { $0.hasSuffix(".tmp") || $0.contains(".corrupt-") }
            #expect(names.count == situation.quarantined && !names.contains(".test.plist.tmp"), "\(place): \(names)")
            let warning = rig.location.takeWarning()
            #expect((warning == nil) == (situation.quarantined == 0), place)
        }
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0, "\(situation): call \(number)")
        return isGivenUp
    }
}
