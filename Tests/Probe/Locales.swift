import Foundation
import PersistentPreferences
import PrefsJSON

/// A program that has set the locale of its user, whose numbers have a decimal comma.
enum Locales {
    /// - Parameter folder: holds `theirs.plist`, an XML file of another program.
    static func run(_ folder: String) throws {
        guard setlocale(LC_ALL, "") != nil, String(format: "%.1f", 0.5) == "0,5" else {
            print("no locale")
            return
        }
        func store(_ name: String) -> PropertyListFileStore {
            PropertyListFileStore(url: URL(filePath: "\(folder)/\(name).plist"), format: .xml)
        }
        let ours = ProbePrefs(store: store("ours"))
        ours["count"] = 0.1
        print("ours:", ProbePrefs(store: store("ours"))["count"] ?? "nil", ours.outcome)
        let theirs = ProbePrefs(store: store("theirs"))
        print("theirs:", theirs["count"] ?? "nil", theirs.outcome)
        theirs["text"] = "x"
        print("written:", theirs.outcome)
        // The default domain is in XML, with other code's key beside ours, which it has not synchronized.
        let prefs = ProbePrefs()
        print("domain:", prefs["count"] ?? "nil", prefs.outcome)
        UserDefaults.standard.set("mine", forKey: "other")
        prefs["text"] = "y"
        print("domain written:", prefs["count"] ?? "nil", prefs.outcome)
        print(
            "export:", String(decoding: prefs.exported(as: .json) ?? Data(), as: UTF8.self).filter { !$0.isWhitespace })
    }

    /// Makes Foundation write a number to the file of the domain in this locale.
    static func foundationWrites() {
        _ = setlocale(LC_ALL, "")
        UserDefaults.standard.set(["count": 0.1], forKey: "ProbePrefs")
        UserDefaults.standard.synchronize()
    }
}
