import Foundation
import PersistentPreferences

/// Has threads and processes write at once, and counts what was lost.
struct Stress {
    private let plan: StressPlan
    private let wantsJSON: Bool

    init(_ plan: StressPlan, wantsJSON: Bool) {
        self.plan = plan
        self.wantsJSON = wantsJSON
    }

    func run() -> Outcome {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "prefs-stress-\(UUID().uuidString)", directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(at: folder) }
            return try run(in: folder)
        } catch {
            return .failure("\(error)", asJSON: wantsJSON)
        }
    }

    private func run(in folder: URL) throws -> Outcome {
        let url = folder.appending(path: "stress.plist", directoryHint: .notDirectory)
        let file = url.path(percentEncoded: false)
        let progress = StressProgress(plan, folder: folder.path(percentEncoded: false), isSilent: wantsJSON)
        var run = StressRun(plan, file: file, progress: progress)
        let start = ContinuousClock.now
        try run.run()
        let seconds = Double((ContinuousClock.now - start) / .microseconds(1)) / 1e6
        var tally = run.tally
        if run.isInterrupted {
            return .failure(
                "interrupted after \(tally.writes) writes; the workers were ended", code: 128 + SIGINT,
                asJSON: wantsJSON)
        }
        let stored = examine(url, &tally)
        let report = StressReport(tally: tally, seconds: seconds, stored: stored)
        return Outcome(
            output: wantsJSON ? report.json : report.text(Style(of: STDOUT_FILENO)),
            code: tally.losses.isEmpty ? 0 : Outcome.refused)
    }

    /// Looks at what the workers have left.
    /// - Returns: the counter that all threads have in common.
    private func examine(_ url: URL, _ tally: inout StressTally) -> Int {
        let file = url.path(percentEncoded: false)
        for problem in FileExamination(path: file).problems { tally.noteLoss("the file: \(Vetting.line(problem))") }
        let values: [String: Any]
        do {
            // The first look of this process: it removes what a killed writer has left.
            values = try PropertyListFileStore(url: url).read(root: StressPrefs.root) ?? [:]
        } catch {
            tally.noteLoss("\(error)")
            values = [:]
        }
        tally.check(values, file: file)
        do {
            let surroundings = try FileSurroundings(path: file)
            let known = [surroundings.file, surroundings.lock, surroundings.lastGood].map {
                ($0 as NSString).lastPathComponent
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: surroundings.folder)
            for name in Set(names).subtracting(known).sorted() { tally.noteLoss("\(name) was left behind") }
            if case .free = LockState(sidecar: surroundings.lock) {} else { tally.noteLoss("the lock is not free") }
        } catch {
            tally.noteLoss("\(error)")
        }
        return values[StressPrefs.sharedKey] as? Int ?? 0
    }
}
