import Foundation
import PersistentPreferences
import PrefsLayers

/// Several of these processes access one file at the same moment. For each line that names a file, prints its value,
/// the reported error, and the error of the next write, which stores another key.
enum Meeting {
    static func serve() {
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let file = URL(filePath: words[1], directoryHint: .notDirectory)
            let store: PrefsStore =
                switch words[0] {
                case "suite": PrefsStore.userDefaults(suite: words[1])
                case "flat": Probe.store(file, layout: .flat)
                case "layered": PrefsStore.layered(Probe.store(file), below: [.values(["count": 1])])
                default: Probe.store(file)
                }
            let prefs = ProbePrefs(store: store)
            let told = describe(prefs.lastError)
            let count = prefs.storedCount
            prefs["text"] = "written"
            say("\(count) \(told) \(describe(prefs.lastError))")
        }
    }

    private static func describe(_ error: PrefsError?) -> String {
        switch error {
        case nil: "ok"
        case .damaged: "damaged"
        case .quarantined: "quarantined"
        case let error?: "\(error)"
        }
    }
}
