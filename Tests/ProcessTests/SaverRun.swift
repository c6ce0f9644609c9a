import Foundation
import TestSupport

/// Programs save a file while another process, which has read the file, reads, writes or observes it.
struct SaverRun {
    enum Role: String, CaseIterable, Sendable {
        case reader, writer, observer
    }

    /// One of the eight ways in which the file is there.
    struct Setting: CustomStringConvertible {
        /// Whether the process has written the file before, so that there is a last good copy.
        let isWritten: Bool
        /// 300 KB.
        let isLarge: Bool
        /// Whether the process opens a link to the file.
        let isLinked: Bool

        static let all = (0..<8).map { Setting(isWritten: $0 & 1 != 0, isLarge: $0 & 2 != 0, isLinked: $0 & 4 != 0) }

        var description: String {
            "\(isWritten ? "written before" : "never written"), \(isLarge ? "large" : "small")\(isLinked ? ", through a link" : "")"
        }
    }

    let saver: Saver
    let role: Role
    private(set) var tally = SaveTally()
    private(set) var saves = 0
    /// Saves whose state was replaced by a write that began before. The package excludes them except for the
    /// microseconds between its last look and its rename.
    private(set) var lost: [String: Int] = [:]
    /// Saves that failed because a write made the file in such microseconds.
    private(set) var failed = 0
    private var found: [String] = []

    /// What must not happen. A few saves may meet the microseconds; if many do, the write has not looked.
    var violations: [String] {
        let (allowed, lost) = (1 + saves / 20, lost.values.reduce(0, +))
        return found + (lost + failed > allowed ? ["\(lost) saves lost and \(failed) failed, of \(saves)"] : [])
    }

    init(_ saver: Saver, _ role: Role) { (self.saver, self.role) = (saver, role) }

    /// The saver saves the file a number of times.
    mutating func run(_ setting: Setting, saves count: Int) throws {
        let file = try SavedFile(isLarge: setting.isLarge, isLinked: setting.isLinked)
        for round in 0...count {
            let folder = file.new.appending(path: "\(round)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try file.text(round).write(to: folder.appending(path: "config.json"), atomically: false, encoding: .utf8)
        }
        if let script = saver.preparation, let failure = try shell("set -e\n\(script)", file, round: 0, of: count) {
            throw SavedFile.Failure(description: failure)
        }
        let home = try TemporaryFolder()
        let bystander = try PipedChild(
            "Probe", ["bystander", role.rawValue, file.path] + (setting.isWritten ? ["writes"] : []), home: home)
        guard try bystander.line() == "ready" else { return found.append("\(setting): it did not start") }
        for round in 1...count {
            do {
                try save(file, round: round, of: count, beside: bystander, setting)
            } catch {
                found.append("\(setting), save \(round): \(error)")
            }
        }
        let met = try JSONDecoder().decode(SaveTally.self, from: Data(bystander.ask("tally").utf8))
        tally += met
        if met.defaults + met.foreign + met.untrueErrors > 0 {
            found.append(
                """
                \(setting): \(met.defaults) defaults, \(met.foreign) values that never were, \
                \(met.untrueErrors) untrue errors: \(met.examples)
                """)
        }
        let quarantined = try file.names.filter { $0.contains(".corrupt-") }
        if !quarantined.isEmpty, met.longestAbsence < 50 { found.append("\(setting): it has made \(quarantined)") }
    }

    private mutating func save(
        _ file: SavedFile, round: Int, of count: Int, beside bystander: PipedChild, _ setting: Setting
    ) throws {
        saves += 1
        let failure =
            saver == .nano ? try nano(file, round) : try shell(saver.script ?? "", file, round: round, of: count)
        if role == .writer { _ = try bystander.ask("pause") }
        if let failure, role == .writer, failure.contains("File exists") {
            failed += 1
        } else if let failure {
            found.append("\(setting): save \(round) failed: \(failure)")
        }
        let saved = try file.round()
        if saved != round {
            if failure == nil { lost["\(setting)", default: 0] += 1 }
            if role != .writer { found.append("\(setting): save \(round) has left \(saved)") }
        }
        if role == .observer {
            let heard = try bystander.ask("hear \(saved)")
            if heard != "\(saved)" {
                found.append("\(setting): the observer has heard of \(heard), not of \(saved)")
            }
        } else {
            let read = try bystander.ask("read").split(separator: " ", maxSplits: 3).map(String.init)
            if read.count != 4 || read[0] != "\(saved)" || read[1] != SaveTally.kept || read[3] != "ok" {
                found.append("\(setting): after save \(round), which has left \(saved), a read returns \(read)")
            }
        }
        if role == .writer { _ = try bystander.ask("go") }
    }

    /// - Returns: why it failed.
    private func shell(_ script: String, _ file: SavedFile, round: Int, of count: Int) throws -> String? {
        let saved = saver.followsLinks ? file.path : file.file.path
        let variables = [
            "FILE": saved, "NEW": file.new.path, "ROUND": "\(round)", "LAST": "\(count)", "HOME": file.new.path,
        ]
        let result = try Child(URL(filePath: "/bin/sh"), ["-c", script], environment: variables).wait()
        return result.code == 0 ? nil : "code \(result.code) \(result.output)\(result.errors)"
    }

    /// Replaces the second line.
    private func nano(_ file: SavedFile, _ round: Int) throws -> String? {
        let program = URL(filePath: Child.installed("nano") ?? "")
        let terminal = try PseudoTerminal(
            program, ["-I", file.path], environment: ["HOME": file.new.path], columns: 100, rows: 30)
        try terminal.wait(forText: SaveTally.kept)
        // Next line, cut it, the new line, save. If nano asks, "y" saves although the file has changed since it was read;
        // otherwise it is text that "n" discards.
        try terminal.type("\u{0E}\u{0B}  \"round\": \(round),\r\u{13}y\u{18}n")
        let code = try terminal.exitCode()
        return code == 0 ? nil : "code \(code)"
    }

    var summary: String {
        let accesses =
            role == .reader
            ? "\(tally.reads) reads" : role == .writer ? "\(tally.writes) writes" : "\(tally.changes) changes"
        let times =
            role == .reader
            ? String(format: ", longest read %.1f ms, %d over 20 ms", tally.longestRead, tally.slowReads) : ""
        let places = lost.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: "; ")
        let losses =
            role == .writer
            ? ", \(lost.values.reduce(0, +)) saves lost\(places.isEmpty ? "" : " (\(places))"), \(failed) failed" : ""
        return """
            savers: \(saver.rawValue), \(role.rawValue): \(saves) saves, \(accesses), \(tally.defaults) defaults, \
            \(tally.foreign) values that never were, \(tally.untrueErrors) untrue errors (\(tally.trueErrors) true)\
            \(times)\(losses), \(String(format: "missing for at most %.1f ms", tally.longestAbsence))
            """
    }
}
