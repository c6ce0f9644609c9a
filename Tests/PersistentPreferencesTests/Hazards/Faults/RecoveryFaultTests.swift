@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Each system call of a write to a damaged file, and of a read of such a file, fails in turn. Neither the bytes nor
/// the newest known state are lost, and no error claims that nothing was known.
@Suite struct RecoveryFaultTests {
    private static let damage = Data("bplist00, or what".utf8)

    /// With second names, and without (FAT, or a file of another user).
    @Test(arguments: [true, false])
    func aCallThatFailsLosesNothing(_ hasLinks: Bool) throws {
        var faults = 0
        for isWrite in [false, true] {
            for code in Hazard.count("PREFS_FAULTS", default: 2) > 2 ? [EIO, EMFILE, EACCES, ENOSPC] : [EIO, EACCES] {
                for persists in Hazard.isLong ? [false, true] : [code == EIO] {
                    // In the usual form one error at every other call, the other error at the calls between.
                    var number = Hazard.isLong || code == EIO ? 1 : 2
                    while try inject(number, code, persists, isWrite: isWrite, hasLinks: hasLinks) {
                        number += Hazard.count(2, long: 1)
                        faults += 1
                    }
                    #expect(number > (isWrite ? 30 : 8))
                }
            }
        }
        Hazard.report("faults: \(faults) in reading and writing a damaged file, second names: \(hasLinks)")
    }

    /// Returns false if there are fewer calls.
    private func inject(
        _ number: Int, _ code: Int32, _ persists: Bool, isWrite: Bool, hasLinks: Bool
    ) throws -> Bool {
        let folder = try TemporaryFolder()
        func system() -> RecordingSystemCalls {
            let system = RecordingSystemCalls()
            system.flushes = false
            if !hasLinks { system.fail("link", with: EPERM, EPERM, EPERM, EPERM) }
            return system
        }
        folder.prefs(system: system())["a"] = 1
        try Self.damage.write(to: folder.file())
        let names = try folder.names()
        let faulty = system()
        do {
            faulty.failCall(number, with: code, persists: persists)
            let prefs = folder.prefs(system: faulty)
            if isWrite { prefs["b"] = 2 }
            let ints = prefs.ints
            guard let call = faulty.failedCall else { return false }
            faulty.heal()
            let place: Comment =
                "call \(number), \(call), \(code), persists \(persists), write \(isWrite): \(prefs.errors)"
            #expect(!prefs.errors.isEmpty, place)
            #expect(ints["a"] == 1 || prefs.lastError != nil || prefs.errors.count > 1, place)
            #expect(
                !prefs.errors.contains { $0.contains("nothing") || $0.contains("may belong to another program") }, place
            )
            #expect(prefs.ints["a"] == 1, place)
            if !isWrite {
                #expect(try folder.names() == names && Data(contentsOf: folder.file()) == Self.damage, place)
            }
            let other = folder.prefs(system: system())
            other["c"] = 3
            #expect(other.lastError?.isWarning != false, place)
            #expect(other.ints["a"] == 1 && other.ints["c"] == 3, place)
            let names = try folder.names()
            let aside = try names.filter { $0.contains(".corrupt-") }.map { try Data(contentsOf: folder.file($0)) }
            #expect(!aside.isEmpty && aside.allSatisfy { $0 == Self.damage }, place)
            #expect(!names.contains(".test.plist.tmp"), place)
        }
        #expect(faulty.openDescriptors.isEmpty)
        return true
    }

    @Test func anEqualWriteIsAcknowledgedOnlyWhenFlushed() throws {
        var faults = 0
        for code in [EIO, ENOSPC, EMFILE, EDQUOT] {
            for persists in [false, true] {
                for number in 1...40 {
                    let folder = try TemporaryFolder()
                    let system = RecordingSystemCalls()
                    do {
                        let careless = AnyPrefs(
                            store: .propertyList(url: folder.file(), durability: .crash, system: system))
                        careless["a"] = 1
                        let prefs = AnyPrefs(store: .propertyList(url: folder.file(), system: system))
                        system.failCall(number, with: code, persists: persists)
                        _ = system.takeCalls()
                        prefs["a"] = 1
                        guard let call = system.failedCall else { break }
                        faults += 1
                        let place: Comment = "call \(number), \(call), \(code), persists \(persists): \(prefs.outcome)"
                        let flushes = system.takeCalls().filter { $0 == "fsync" }.count
                        #expect(prefs.lastError != nil || flushes >= 3, place)
                        system.heal()
                        prefs["a"] = 1
                        #expect(prefs.outcome == "ok", place)
                        #expect(try propertyList(at: folder.file())["AnyPrefs"] as? [String: Int] == ["a": 1], place)
                        #expect(
                            try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"], place)
                    }
                    #expect(system.openDescriptors.isEmpty)
                }
            }
        }
        #expect(faults > 40)
        Hazard.report("faults: \(faults) in equal writes of an unflushed state")
    }
}
