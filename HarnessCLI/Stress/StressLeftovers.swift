import Foundation
import PersistentPreferences

/// The files that the workers left. Looks at them as a user does: with `prefs doctor`.
struct StressLeftovers {
    let file: URL

    /// A part of what `prefs doctor --json` prints.
    private struct Diagnosis: Decodable {
        struct Lock: Decodable { let state: String }

        let state: String
        let lock: Lock
    }

    /// Checks that the file is intact, the lock is free, the next writer removes temporary files, and every
    /// acknowledged write is stored. No worker may be running.
    func check(_ tally: inout StressTally) throws {
        // Before `--mend`, which repairs a damaged file.
        let diagnosis = try JSONDecoder().decode(Diagnosis.self, from: doctor("--json").output)
        // The first write creates the file.
        let isIntact = diagnosis.state == "whole" || diagnosis.state == "missing" && tally.writes == 0
        if !isIntact { tally.losses.append("the state of the file is \"\(diagnosis.state)\"") }
        let lock = diagnosis.lock.state
        if lock != "free", lock != "none" { tally.losses.append("the state of the lock is \"\(lock)\"") }
        // Opens the file as the next writer does.
        let (output, code) = try doctor("--mend")
        if code != 0 { tally.losses.append("prefs doctor: \(String(decoding: output, as: UTF8.self))") }
        let name = file.lastPathComponent
        let folder = file.deletingLastPathComponent().path(percentEncoded: false)
        let strays = try Set(FileManager.default.contentsOfDirectory(atPath: folder)).subtracting(
            [name, ".\(name).lock", ".\(name).lastgood"])
        // File systems in user space and NFS keep the open files of killed processes under such names.
        tally.losses += strays.sorted().filter { !$0.hasPrefix(".fuse_hidden") && !$0.hasPrefix(".nfs") }.map {
            "\($0) was not removed"
        }
        do {
            tally.check(try PrefsStore.propertyList(url: file).roots.read(root: StressPrefs.root) ?? [:])
        } catch {
            tally.losses.append("\(error)")
        }
    }

    private func doctor(_ option: String) throws -> (output: Data, code: Int32) {
        let pipe = Pipe()
        let process = try Process.prefs(["doctor", option, "-f", file.path(percentEncoded: false)], output: pipe)
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (output, process.terminationStatus)
    }
}
