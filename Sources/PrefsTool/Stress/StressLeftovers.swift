import Foundation
import PersistentPreferences
import PrefsFileEngine

/// The files that the workers left, when none of them is running.
struct StressLeftovers {
    let file: String

    /// Checks that the file is intact, the lock is free, the next writer removes temporary files, and every acknowledged write is
    /// stored.
    ///
    /// - Returns: the value of the shared counter.
    @discardableResult
    func check(_ tally: inout StressTally) throws -> Int {
        let surroundings = try SidecarPaths(path: file)
        for problem in FileInspection(path: file).problems where tally.writes > 0 {
            tally.recordLoss("the file: \(VetRunner.line(problem))")
        }
        switch LockState(surroundings) {
        case .none, .free: break
        case let state: tally.recordLoss("the lock is \(state.text)")
        }
        try openInAnotherProcess()
        let known = [surroundings.file, surroundings.lock, surroundings.lastGood].map {
            ($0 as NSString).lastPathComponent
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: surroundings.folder)
        for name in Set(names).subtracting(known).sorted() { tally.recordLoss("\(name) was not removed") }
        let values: [String: StoredValue]
        do {
            let url = URL(filePath: file, directoryHint: .notDirectory)
            let root = try PropertyListFileStore(url: url).read(root: StressPrefs.root) ?? [:]
            values = root.mapValues(PropertyListVetter.value(ofStored:))
        } catch {
            tally.recordLoss("\(error)")
            values = [:]
        }
        tally.check(values, file: file)
        return values[StressPrefs.sharedKey]?.integer() ?? 0
    }

    /// Opens the file as the next writer would.
    private func openInAnotherProcess() throws {
        let process = Process()
        let ended = DispatchSemaphore(value: 0)
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["doctor", "--mend", file]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()
    }
}
