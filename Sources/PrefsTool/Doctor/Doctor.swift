import Foundation
import PersistentPreferences

/// Explains the state of a domain's file, and mends it if asked to.
struct Doctor {
    let program: Program
    let wantsJSON: Bool

    func run(_ target: Target, mends: Bool) throws -> Outcome {
        try mends ? mend(target) : report(target)
    }

    private func report(_ target: Target) throws -> Outcome {
        guard let path = try target.path() else { return daemonOutcome(target) }
        let diagnosis = Diagnosis(path: path, suite: target.suite, of: program)
        let findings = diagnosis.findings
        let (output, format): (String, OutputFormat) =
            wantsJSON
            ? (Self.json(diagnosis, findings), .json)
            : (Self.text(target, diagnosis, findings, program.context.outputStyle), .text)
        return Outcome(
            output: output, as: format, code: findings.contains(where: \.isProblem) ? Outcome.failureCode : 0)
    }

    /// Quarantines a damaged file, stores the newest known state and reports both. Never changes a file that this package has not
    /// written.
    private func mend(_ target: Target) throws -> Outcome {
        guard let path = try target.path() else { return daemonOutcome(target) }
        let before = Diagnosis(path: path, suite: target.suite, of: program)
        let isDamaged = before.examination.state == .damaged
        var done: [String] = []
        if isDamaged || before.examination.state == .notOurs || before.temporary != nil {
            if case .quarantined(let file)? = try target.domain().mend() {
                done.append("\(file.place)")
                done.append("quarantined as \(file.quarantinedAs ?? "")")
                done.append(
                    file.state == .nothing
                        ? "there was no last good copy: nothing is stored now" : "restored \(file.state)")
            }
            let after = Diagnosis(path: path, suite: target.suite, of: program)
            if before.temporary != nil, after.temporary == nil, let surroundings = before.surroundings {
                done.append("removed \(surroundings.temporary), left by a killed writer")
            }
        }
        if done.isEmpty { done.append("nothing to mend") }
        let rest = Diagnosis(path: path, suite: target.suite, of: program).findings.filter(\.isProblem)
        let code = rest.isEmpty ? 0 : Outcome.failureCode
        guard !wantsJSON else {
            return Outcome(
                output: JSONText.object([("done", done), ("remainingProblems", rest.map(\.reason))]).json + "\n",
                as: .json, code: code)
        }
        let lines = done + rest.map { "problem remains: \($0.reason)" }
        return Outcome(output: lines.map { $0.printable + "\n" }.joined(), code: code)
    }

    private func daemonOutcome(_ target: Target) -> Outcome {
        let reason = "belongs to a system daemon, which stores it"
        return wantsJSON
            ? Outcome(output: JSONText.object([("domain", target.name), ("state", reason)]).json + "\n", as: .json)
            : Outcome(output: "\(target.name) \(reason)".printable + "\n")
    }

    // MARK: - Text

    private static func text(
        _ target: Target, _ diagnosis: Diagnosis, _ findings: [Finding], _ style: Style
    ) -> String {
        var table = Table()
        if case .suite = target { table.add("domain", target.name) }
        table.add("file", diagnosis.path)
        if let surroundings = diagnosis.surroundings {
            if surroundings.file != diagnosis.path { table.add("leads to", surroundings.file) }
            describe(diagnosis, surroundings, &table)
        }
        let lines = findings.map { finding in
            let word = finding.isProblem ? style.red("problem") : style.yellow("note")
            let way = finding.isProblem ? "mend it" : "do it"
            return "\(word): \(finding.reason.printable)\n" + (finding.command.map { "  \(way): \($0)\n" } ?? "")
        }
        let verdict = findings.contains(where: \.isProblem) ? "" : style.green("nothing needs mending") + "\n"
        return table.text() + "\n" + lines.joined() + verdict
    }

    private static func describe(_ diagnosis: Diagnosis, _ surroundings: SidecarPaths, _ table: inout Table) {
        table.add("state", state(diagnosis))
        if let file = diagnosis.file {
            table.add("size", file.sizeAndTime)
            table.add("permissions", "\(file.permissions); \(diagnosis.access.text)")
        }
        let folder = diagnosis.folder.map { "\($0.permissions); \(diagnosis.folderAccess.text)" }
        table.add("folder", "\(surroundings.folder), \(folder ?? "which does not exist yet")")
        table.add("lock", diagnosis.lock.text)
        if diagnosis.temporary != nil { table.add("temporary", surroundings.temporary) }
        for copy in diagnosis.quarantined { table.add("quarantined", "\(copy.path), \(copy.metadata.sizeAndTime)") }
        if surroundings.quarantined == nil { table.add("quarantined", "unknown: the folder cannot be listed") }
        table.add("last good", diagnosis.lastGood.map { text($0, diagnosis.examination.state) } ?? "none")
    }

    private static func state(_ diagnosis: Diagnosis) -> String {
        let examination = diagnosis.examination
        let reason = examination.problems.first?.reason ?? ""
        return switch examination.state {
        case .missing: "there is no file" + (diagnosis.lastGood == nil ? ": nothing was stored yet" : "")
        case .unreadable: "cannot be read: \(reason)"
        case .damaged: "damaged: \(reason)"
        case .notOurs: "not written by this package: \(reason)"
        case .unsafe: "not safe to read: \(reason)"
        case .whole: VetRunner.summary(examination)
        }
    }

    private static func text(_ copy: Diagnosis.LastGoodCopy, _ state: FileInspection.State) -> String {
        let sizeAndTime = copy.metadata.sizeAndTime
        if !copy.isUsable { return "\(sizeAndTime), not usable" }
        guard state == .whole else { return "\(sizeAndTime), intact" }
        return "\(sizeAndTime), \(copy.isEqual ? "the same as the file" : "older than the file")"
    }

    // MARK: - JSON

    private static func json(_ diagnosis: Diagnosis, _ findings: [Finding]) -> String {
        let examination = diagnosis.examination
        let problems = examination.problems.map { ["path": $0.path, "reason": $0.reason] }
        let holders = diagnosis.lock.holders.map {
            JSONText.object([("isStopped", $0.isStopped), ("name", $0.name), ("pid", $0.pid)])
        }
        let quarantined = diagnosis.quarantined.map { entry($0.metadata, at: $0.path, ["isWhole": $0.isWhole]) }
        let lastGood = diagnosis.lastGood.map {
            entry($0.metadata, at: $0.path, ["isUsable": $0.isUsable, "isEqual": $0.isEqual])
        }
        let reports = findings.map {
            JSONText.object([("command", $0.command), ("isProblem", $0.isProblem), ("reason", $0.reason)])
        }
        let surroundings = diagnosis.surroundings
        return JSONText.object([
            ("file", diagnosis.path), ("leadsTo", surroundings?.file), ("state", examination.state.rawValue),
            ("line", examination.line), ("format", examination.format?.rawValue), ("roots", examination.roots),
            ("values", examination.values), ("problems", problems),
            ("attributes", entry(diagnosis.file, diagnosis.access, at: surroundings?.file)),
            ("folder", entry(diagnosis.folder, diagnosis.folderAccess, at: surroundings?.folder)),
            ("lock", JSONText.object([("holders", holders), ("state", diagnosis.lock.name)])),
            ("temporary", diagnosis.temporary == nil ? nil : surroundings?.temporary),
            ("quarantined", quarantined), ("lastGood", lastGood),
            ("findings", reports), ("isHealthy", !findings.contains(where: \.isProblem)),
        ]).json + "\n"
    }

    private static func entry(
        _ metadata: FileMetadata?, _ access: Access, at path: String?
    ) -> [String: StoredValue]? {
        guard let metadata, let path else { return nil }
        return entry(metadata, at: path, ["reads": access.reads, "writes": access.writes])
    }

    private static func entry(
        _ metadata: FileMetadata, at path: String, _ properties: [String: Bool]
    ) -> [String: StoredValue] {
        let entry: [String: StoredValue] = [
            "path": .string(path), "bytes": StoredValue(metadata.size), "modified": .date(metadata.modified),
            "permissions": .string(metadata.permissions),
        ]
        return entry.merging(properties.mapValues(StoredValue.bool)) { $1 }
    }
}
