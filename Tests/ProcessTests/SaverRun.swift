import Foundation
import TestSupport

/// Programs save a file while another process, which has read the file, reads, writes or observes it.
struct SaverRun {
    enum Role: String, CaseIterable, Sendable {
        case reader, writer, observer
    }

    /// A way in which the file is there.
    struct Setting: CustomStringConvertible {
        var format = SavedFile.Format.json
        /// Whether the process has written the file before, so that there is a last good copy.
        let isWritten: Bool
        /// 300 KB.
        var isLarge = false
        /// Whether the process opens a link to the file.
        var isLinked = false

        static let all = (0..<8).map { Setting(isWritten: $0 & 1 != 0, isLarge: $0 & 2 != 0, isLinked: $0 & 4 != 0) }
        /// Small files of each format.
        static let formats = SavedFile.Format.allCases.flatMap { format in
            [false, true].map { Setting(format: format, isWritten: $0) }
        }

        var description: String {
            let link = isLinked ? ", through a link" : ""
            return
                "\(format.rawValue), \(isWritten ? "written before" : "never written"), \(isLarge ? "large" : "small")\(link)"
        }
    }

    let saver: Saver
    let role: Role
    private(set) var tally = SaveTally()
    private(set) var saves = 0
    /// Saves whose state was replaced by a write that began before. The package excludes them except for the
    /// microseconds between its last look and its rename, some 100 of which are the rename's own.
    private(set) var lost: [String: Int] = [:]
    /// Saves that failed because a write made the file in such microseconds.
    private(set) var failed = 0
    /// Saves that this machine was too slow for, and saves whose file was replaced before their first byte. They were repeated.
    private(set) var slow = 0
    private(set) var unseen = 0
    private var found: [String] = []

    /// What must not happen. A few saves may meet the microseconds; if many do, the write has not looked. In an exchanged folder,
    /// such a write is in the former one. Of three saves in place, two may meet them on a busy machine.
    var violations: [String] {
        let few = saver.changesAllParts && saves < 20 ? 2 : 1
        let (allowed, lost) = (saver.exchangesFolder ? 0 : few + saves / 20, lost.values.reduce(0, +))
        return found + (lost + failed > allowed ? ["\(lost) saves lost and \(failed) failed, of \(saves)"] : [])
    }

    init(_ saver: Saver, _ role: Role) { (self.saver, self.role) = (saver, role) }

    /// The saver saves the file a number of times.
    mutating func run(_ setting: Setting, saves count: Int) throws {
        let file = try SavedFile(
            setting.format, isLarge: setting.isLarge, isLinked: setting.isLinked, isNumbered: saver.changesAllParts)
        for round in 0...count {
            let folder = file.new.appending(path: "\(round)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try file.bytes(round).write(to: folder.appending(path: file.file.lastPathComponent))
        }
        if let script = saver.preparation,
            let failure = try shell("set -e\n\(script)", file, round: 0, of: count, setting)
        {
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
        if !quarantined.isEmpty, met.longestAbsence < 240, met.longestMalformed < 490 {
            found.append("\(setting): it has made \(quarantined)")
        }
    }

    private mutating func save(
        _ file: SavedFile, round: Int, of count: Int, beside bystander: PipedChild, _ setting: Setting
    ) throws {
        saves += 1
        let failure =
            saver == .nano
            ? try nano(file, round) : try shell(saver.script ?? "", file, round: round, of: count, setting)
        let stored = role == .writer ? try bystander.ask("pause") : ""
        defer { if role == .writer { _ = try? bystander.ask("go") } }
        if let failure, role == .writer, failure.contains("File exists") {
            failed += 1
        } else if let failure {
            found.append("\(setting): save \(round) failed: \(failure)")
        }
        let (saved, own) = try file.saved()
        if role == .writer, own.map({ "\($0)" }) != stored {
            found.append(
                "\(setting): after save \(round), the file has \(own.map(String.init) ?? "nothing") in place of \(stored)"
            )
        }
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
            // A read does not notice that the folder is another one, but a write of another value does.
            if saver.exchangesFolder, role == .reader {
                let error = try bystander.ask("write \(1 + round)")
                if error != "ok" { found.append("\(setting): after save \(round), a write fails: \(error)") }
            }
            let read = try bystander.ask("read").split(separator: " ", maxSplits: 3).map(String.init)
            if read.count != 4 || read[0] != "\(saved)" || read[1] != SaveTally.kept || read[3] != "ok" {
                found.append("\(setting): after save \(round), which has left \(saved), a read returns \(read)")
            }
        }
    }

    /// - Returns: why it failed.
    private mutating func shell(
        _ script: String, _ file: SavedFile, round: Int, of count: Int, _ setting: Setting
    ) throws -> String? {
        let saved = saver.followsLinks ? file.path : file.file.path
        // A writer has a copy again after each write, so the saver removes it.
        let copy = setting.isWritten ? "" : file.beside(".\(file.file.lastPathComponent).lastgood").path
        let variables = [
            "FILE": saved, "NEW": file.new.path, "ROUND": "\(round)", "LAST": "\(count)", "HOME": file.new.path,
            "ROLE": role.rawValue, "COPY": copy,
        ]
        let end = Patience.deadline
        while true {
            let result = try Child(URL(filePath: "/bin/sh"), ["-c", script], environment: variables).wait()
            if result.code == 0 { return nil }
            switch result.code {
            case Saver.tooSlow where .now < end: slow += 1
            case Saver.replacedBeforeFirstByte where role == .writer && .now < end: unseen += 1
            default: return "code \(result.code) \(result.output)\(result.errors)"
            }
        }
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
            \(times)\(losses), \(slow + unseen) repeated \
            (\(unseen) replaced before the first byte), \(String(format: "missing for at most %.1f ms", tally.longestAbsence))
            """
    }
}
