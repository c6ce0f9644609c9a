import Foundation
import TestSupport
import Testing

@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// A volume before a system call, and the number of steps that were acknowledged by then.
struct CrashPoint: CustomStringConvertible {
    let volume: SimulatedVolume
    let acknowledged: Int
    let call: String

    var description: String { "before \(call), \(acknowledged) steps acknowledged" }
}

/// Steps on a simulated machine, each with the state that it leads to.
struct CrashScenario: Sendable, CustomStringConvertible {
    static let path = "/home/.config/test.plist"
    /// What another program leaves in the file.
    static let damage = Array("half a propert\0".utf8)
    /// Whether every state of the disk is checked.
    static let isThorough = Hazard.count("PREFS_CRASHES", default: 0) > 0

    let name: String
    var format = FileFormat.binary
    /// The number of existing folders of the path: both, the outer one, or none.
    var folders = 2
    /// False if files of the volume have one name each, as on FAT.
    var hasSecondNames = true
    let steps: [@Sendable (FileRoot) -> Void]
    /// The states. The first one is the state before the first step.
    let states: [[String: Int]]

    var description: String { name }

    static let all: [CrashScenario] = [
        CrashScenario(
            name: "first write, folders missing", folders: 0, steps: [{ $0["a"] = 1 }], states: [[:], ["a": 1]]),
        CrashScenario(
            name: "first write, folder missing", folders: 1, steps: [{ $0["a"] = 1 }], states: [[:], ["a": 1]]),
        CrashScenario(
            name: "three writes", steps: [{ $0["a"] = 1 }, { $0["b"] = 2 }, { $0["a"] = 3 }],
            states: [[:], ["a": 1], ["a": 1, "b": 2], ["a": 3, "b": 2]]),
        CrashScenario(
            name: "XML", format: .plainXML, steps: [{ $0["a"] = 1 }, { $0.values = ["b": 2] }],
            states: [[:], ["a": 1], ["b": 2]]),
        CrashScenario(
            name: "JSON", format: .json, steps: [{ $0["a"] = 1 }, { $0.values = ["b": 2] }],
            states: [[:], ["a": 1], ["b": 2]]),
        CrashScenario(
            name: "deletion", steps: [{ $0["a"] = 1 }, { $0.deleteAll() }, { $0["b"] = 2 }],
            states: [[:], ["a": 1], [:], ["b": 2]]),
        CrashScenario(
            name: "updates",
            steps: [
                { root in
                    root.update {
                        root["a"] = 1
                        root["b"] = 1
                    }
                }, { $0.values["a"] = 2 },
            ], states: [[:], ["a": 1, "b": 1], ["a": 2, "b": 1]]),
    ]

    /// Runs the steps once. Returns each state of the disk before a system call, and the last state.
    func points(on start: SimulatedVolume? = nil) -> [CrashPoint] {
        let machine = SimulatedMachine(start ?? Self.volume(folders: folders))
        let process = SimulatedProcess(machine)
        var points: [CrashPoint] = []
        var acknowledged = 0
        func record(_ call: String) {
            // Calls that only read change nothing.
            if let last = points.last, last.acknowledged == acknowledged, last.volume.clock == machine.volume.clock {
                return
            }
            points.append(CrashPoint(volume: machine.volume, acknowledged: acknowledged, call: call))
        }
        process.onCall = { call throws(StorageFailure) in
            record(call)
            if !hasSecondNames, call == "link" { throw StorageFailure("link", "", code: EPERM) }
        }
        let prefs = Self.prefs(on: process, format)
        for step in steps {
            step(prefs)
            if prefs.lastError?.isWarning != false { acknowledged += 1 }
            record("the next step")
        }
        return points
    }

    static func volume(folders: Int = 2) -> SimulatedVolume {
        var volume = SimulatedVolume()
        _ = volume.create(.folder, "tmp", in: SimulatedVolume.root, mode: 0o777)
        if folders > 0 {
            let home = volume.create(.folder, "home", in: SimulatedVolume.root, mode: 0o755)
            if folders > 1 { _ = volume.create(.folder, ".config", in: home, mode: 0o700) }
        }
        volume.flushAll()
        return volume
    }

    static func prefs(
        on process: SimulatedProcess, _ format: FileFormat = .binary,
        durability: CommitDurability = .powerCut
    ) -> FileRoot {
        FileRoot(path, format: format, durability: durability, system: process)
    }
}

extension SimulatedVolume {
    /// A program that starts on this volume.
    func reopened(_ format: FileFormat = .binary) -> (prefs: FileRoot, machine: SimulatedMachine) {
        let machine = SimulatedMachine(self)
        return (CrashScenario.prefs(on: SimulatedProcess(machine), format), machine)
    }

    /// Expects that a program reads these values after a power cut now.
    func expectAfterPowerCut(
        _ ints: [String: Int], _ format: FileFormat = .binary, isThorough: Bool = true, _ comment: Comment? = nil
    ) {
        for disk in statesAfterPowerCut(isThorough: isThorough) {
            let found = disk.reopened(format).prefs.ints
            #expect(found == ints, comment)
        }
    }

    /// The files beside the file that should have been removed.
    var leftovers: [String] {
        listing().keys.filter { $0.hasSuffix(".tmp") || $0.contains(".corrupt-") }
    }
}
