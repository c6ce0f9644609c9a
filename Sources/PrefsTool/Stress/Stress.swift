import Foundation
import PersistentPreferences

/// Writes from many threads and processes at once, and counts lost writes.
struct Stress {
    private let plan: StressPlan
    private let context: ProcessContext
    private let wantsJSON: Bool

    init(_ plan: StressPlan, _ context: ProcessContext, wantsJSON: Bool) {
        self.plan = plan
        self.context = context
        self.wantsJSON = wantsJSON
    }

    func run() -> Outcome {
        let parent = plan.folder.map { URL(filePath: $0.absolutePath, directoryHint: .isDirectory) }
        let folder = (parent ?? FileManager.default.temporaryDirectory).resolvingSymlinksInPath().appending(
            path: "prefs-stress-\(UUID().uuidString)", directoryHint: .isDirectory)
        do {
            guard mkdir(folder.path(percentEncoded: false), 0o700) == 0 else {
                let reason = String(cString: strerror(errno))
                throw CommandError("no folder can be made in \(plan.folder ?? "the temporary folder"): \(reason)")
            }
            defer { try? FileManager.default.removeItem(at: folder) }
            return try run(in: folder)
        } catch {
            return .failure("\(error)", asJSON: wantsJSON)
        }
    }

    private func run(in folder: URL) throws -> Outcome {
        let url = folder.appending(path: "stress.plist", directoryHint: .notDirectory)
        let file = url.path(percentEncoded: false)
        let progress = StressProgress(plan, context, folder: folder.path(percentEncoded: false), isSilent: wantsJSON)
        var run = StressRun(plan, file: file, progress: progress)
        let start = ContinuousClock.now
        try run.run()
        let seconds = Double((ContinuousClock.now - start) / .microseconds(1)) / 1e6
        var tally = run.tally
        if let signal = run.interruption {
            return .failure(
                "interrupted after \(tally.writes) writes; the workers were stopped", code: 128 + signal,
                asJSON: wantsJSON)
        }
        let stored = try StressLeftovers(file: file).check(&tally)
        let report = StressReport(tally: tally, seconds: seconds, stored: stored)
        return Outcome(
            output: wantsJSON
                ? report.json : report.text(context.outputStyle, width: context.outputWidth ?? 80),
            as: wantsJSON ? .json : .text,
            code: tally.losses.isEmpty ? 0 : Outcome.failureCode)
    }
}
