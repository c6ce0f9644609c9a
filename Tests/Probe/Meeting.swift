import Foundation
import PersistentPreferences

/// Several of these meet one file at the same moment: for each line that names one, its value and whether it was told
/// that the file was damaged and restored.
enum Meeting {
    static func serve() {
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let store: any PrefsStore =
                words[0] == "suite"
                ? UserDefaultsStore(suiteName: words[1])
                : PropertyListFileStore(url: URL(filePath: words[1], directoryHint: .notDirectory))
            let prefs = ProbePrefs(store: store)
            let told = describe(prefs.lastError)
            print(prefs.storedCount, told)
            fflush(nil)
        }
    }

    private static func describe(_ error: PrefsError?) -> String {
        switch error {
        case nil: "ok"
        case .damaged(_, _, .some, true): "told"
        case let error?: "\(error)"
        }
    }
}
