import Foundation
import PersistentPreferences

/// The folder of a run's files, with the home of this process. `Scripts/bench.sh` and `Scripts/counts.sh` make it.
struct Place: Sendable {
    private let folder: URL

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        guard let path = environment["PREFS_BENCHMARKS"], environment["HOME"] == path + "/home" else {
            throw Unavailable("a run needs a home of its own; use Scripts/bench.sh")
        }
        folder = URL(filePath: path, directoryHint: .isDirectory)
    }

    /// A file in its own folder, so that rows do not share the state of a folder.
    func file(_ name: String) throws -> URL {
        let own = folder.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return own.appending(path: "\(name).plist", directoryHint: .notDirectory)
    }

    /// A store with its own file.
    func store(_ name: String, _ durability: PrefsStore.Durability = .powerCut) throws
        -> PrefsStore
    {
        PrefsStore.propertyList(url: try file(name), durability: durability)
    }

    /// A domain of `UserDefaults` in the home of the run.
    func defaults(_ suite: String) throws -> UserDefaults {
        guard let defaults = UserDefaults(suiteName: suite) else { throw Unavailable("no UserDefaults of \(suite)") }
        return defaults
    }
}
