import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import PrefsFileEngine

/// Power cuts after operations that only files of one value have: removals, undone writes, and values of another type
/// that are kept.
@Suite struct DocumentCrashTests {
    private let machine = SimulatedMachine(CrashScenario.volume())
    private let process: SimulatedProcess
    private let file: FileLocation

    init() {
        process = SimulatedProcess(machine)
        file = FileLocation(path: CrashScenario.path, holds: .document, system: process)
    }

    private func write(_ value: String?, durability: CommitDurability = .powerCut) throws {
        let value = try value.map { try PropertyListVetter.value(of: $0) }
        try file.transact(durability: durability) { $0.replace(TopLevel.documentKey, with: value) }
    }

    private func restore(_ before: Data?, after: Data) throws {
        try file.revert(FileReplacement(path: CrashScenario.path, before: before, after: FileBytes(after)))
    }

    private var bytes: Data {
        get throws { Data(try #require(machine.volume.listing()[CrashScenario.path])) }
    }

    /// The possible contents of the path after a power cut now; nil for a missing file.
    private var afterPowerCut: Set<Data?> {
        Set(
            machine.volume.statesAfterPowerCut(isThorough: true).map {
                $0.listing()[CrashScenario.path].map { Data($0) }
            })
    }

    /// A removal that need not survive a power cut is not flushed.
    @Test(arguments: [CommitDurability.powerCut, .process]) func aRemovedFileDoesNotReturn(
        _ durability: CommitDurability
    ) throws {
        try write("a")
        let bytes = try bytes
        #expect(afterPowerCut == [bytes])
        try write(nil, durability: durability)
        #expect(afterPowerCut == (durability == .powerCut ? [nil] : [nil, bytes]))
    }

    /// A removed value does not return, even if another program makes the file again and damages it.
    @Test func aRemovedValueDoesNotReturnFromItsCopy() throws {
        try write("a")
        try write(nil)
        let folder = try #require(machine.volume.inode(at: "/home/.config"))
        let damaged = machine.volume.create(.file, "test.plist", in: folder, mode: 0o600)
        machine.volume.write(Array("damage".utf8), to: damaged, at: 0)
        let location = FileLocation(path: CrashScenario.path, holds: .document, system: SimulatedProcess(machine))
        let reading = try location.withFile { try $0.read() }
        #expect(reading.content == nil)
        #expect(reading.warning?.text.hasPrefix("not ours: ") == true)
        #expect(reading.warning?.report?.state == .nothing)
    }

    /// Before the last write, there was no file, one of no format, or one of this package.
    enum Former: CaseIterable { case missing, foreign, own }

    @Test(arguments: Former.allCases) func whatAnUndoPutsBackStays(_ former: Former) throws {
        try write("a")
        let before: Data? =
            switch former {
            case .missing: nil
            case .foreign: Data("notes".utf8)
            case .own: try bytes
            }
        try write("b")
        try restore(before, after: bytes)
        #expect(afterPowerCut == [before])
    }

    /// A settings file with values of another type gets a second name before it is replaced.
    @Test(arguments: [true, false]) func aValueOfAnotherTypeIsNeverLost(_ hasSecondNames: Bool) throws {
        try write("of another type")
        let new = try PropertyListVetter.value(of: "new")
        let former = Array(try bytes)
        var volumes: [SimulatedVolume] = []
        process.onCall = { call throws(StorageFailure) in
            volumes.append(machine.volume)
            if call == "link", !hasSecondNames { throw StorageFailure("link", "", code: EPERM) }
        }
        try file.transact(durability: .powerCut) { transaction in
            transaction.reasonToKeepFormer = "of another type"
            transaction.replace(TopLevel.documentKey, with: new)
        }
        process.onCall = nil
        #expect(machine.volume.listing().keys.count { $0.contains(".corrupt-") } == 1)
        for volume in volumes + [machine.volume] {
            for disk in volume.statesAfterPowerCut(isThorough: true) {
                #expect(disk.listing().values.contains(former))
            }
        }
        #expect(volumes.count > 20)
    }
}
