import Foundation
import PersistentPreferences
import PrefsJSON

/// Explains the state of a place's file and what is wrong with its values, and mends the file if asked to.
struct Doctor {
    private let place: Place
    private let program: Program
    private let wantsJSON: Bool
    private let mends: Bool

    init(_ invocation: Invocation) throws {
        place = try Place(of: invocation)
        (program, wantsJSON) = (invocation.program, invocation.wantsJSON)
        mends = invocation.options.has(.mend)
    }

    func run() throws -> Outcome {
        guard let path = place.file else {
            if case .suite? = place.target { return daemonOutcome }
            throw CommandError("\(place.name) has no file")
        }
        let diagnosis = try diagnosis(path)
        if mends { return try mend(diagnosis, path) }
        let findings = diagnosis.findings
        let (output, format): (String, OutputFormat) =
            wantsJSON
            ? (Self.json(diagnosis, findings), .json)
            : (text(diagnosis, findings, program.context.outputStyle), .text)
        return Outcome(
            output: output, as: format, code: findings.contains(where: \.isProblem) ? Outcome.failureCode : 0)
    }

    private func diagnosis(_ path: String) throws -> Diagnosis {
        let target = place.target ?? .file(path)
        var prefs = try place.prefs ?? program.ownPrefs(in: target)
        // In a flat layout, another file may have any keys, so no class checks them.
        if prefs == nil, !program.hasFlatLayout { prefs = program.make(nil, try target.store(of: program)) }
        return Diagnosis(path: path, target: place.target, of: program, prefs: prefs)
    }

    /// Quarantines a damaged file, stores the newest known state and reports both. Never changes a file that this
    /// package has not written.
    private func mend(_ before: Diagnosis, _ path: String) throws -> Outcome {
        if before.examination.state == .notOurs {
            let reason = before.examination.problems.first.map { ": \($0.line)" } ?? ""
            throw CommandError(
                "\(path)\(reason); there is no last good copy to restore, so correct the file; nothing has changed")
        }
        var done: [String] = []
        if before.examination.state == .damaged || before.temporary != nil {
            let isForced = before.examination.state == .damaged
            if case .quarantined(let file)? = try (place.target ?? .file(path)).domain(isForced: isForced).mend() {
                done.append("\(file.place)")
                done.append("quarantined as \(file.quarantinedAs ?? "")")
                done.append(
                    file.state == .nothing
                        ? "there was no last good copy: nothing is stored now" : "restored \(file.state)")
            }
        }
        let after = try diagnosis(path)
        if before.temporary != nil, after.temporary == nil, let surroundings = before.surroundings {
            done.append("removed \(surroundings.temporary), left by a killed writer")
        }
        if done.isEmpty { done.append("nothing to mend") }
        let rest = after.findings.filter(\.isProblem)
        let code = rest.isEmpty ? 0 : Outcome.failureCode
        guard !wantsJSON else {
            return Outcome(
                output: JSONText.object([("done", done), ("remainingProblems", rest.map(\.reason))]).json + "\n",
                as: .json, code: code)
        }
        let lines = done + rest.map { "problem remains: \($0.reason)" }
        return Outcome(output: lines.map { $0.printable + "\n" }.joined(), code: code)
    }

    private var daemonOutcome: Outcome {
        let reason = "belongs to a system daemon, which stores it"
        return wantsJSON
            ? Outcome(output: JSONText.object([("domain", place.name), ("state", reason)]).json + "\n", as: .json)
            : Outcome(output: "\(place.name) \(reason)".printable + "\n")
    }

    // MARK: - Text

    private func text(_ diagnosis: Diagnosis, _ findings: [Finding], _ style: Style) -> String {
        var table = Table()
        if case .suite? = place.target { table.add("domain", place.name) }
        table.add("file", diagnosis.path)
        if let surroundings = diagnosis.surroundings {
            if surroundings.file != diagnosis.path { table.add("leads to", surroundings.file) }
            Self.describe(diagnosis, surroundings, &table)
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
        case .missing:
            (diagnosis.file == nil ? "there is no file" : "the file is empty")
                + (diagnosis.lastGood == nil ? ": nothing was stored yet" : "")
        case .unreadable: "cannot be read: \(reason)"
        case .damaged: "damaged: \(reason)"
        case .notOurs: "not written by this package: \(reason)"
        case .unsafe: "not safe to read: \(reason)"
        case .whole: examination.summary
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
            ("line", examination.line), ("format", examination.format?.name), ("roots", examination.roots),
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
