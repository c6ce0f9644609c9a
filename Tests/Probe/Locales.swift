import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsKeys
import RVS_PersistentPrefs

/// A program that has set the locale of its user, whose numbers have a decimal comma.
enum Locales {
    /// - Parameter folder: holds `theirs.plist`, an XML file of another program.
    static func run(_ folder: String) throws {
        guard setlocale(LC_ALL, "") != nil, String(format: "%.1f", 0.5) == "0,5" else {
            print("no locale")
            return
        }
        func store(_ name: String) -> PrefsStore {
            .propertyList(url: URL(filePath: "\(folder)/\(name).plist"), format: .plainXML)
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
        others(folder)
    }

    /// Two accesses through each of the other stores: a read of what another program has written, and a write.
    private static func others(_ folder: String) {
        func access(_ name: String, _ prefs: PersistentPrefs) {
            let count = prefs["count"] ?? "nil"
            prefs["text"] = "x"
            print("\(name):", count, prefs["count"] ?? "nil", prefs.lastError.map { "\($0)" } ?? "ok")
        }
        func access(_ name: String, _ defaults: UserDefaults) {
            let count = theirs.get(defaults)
            let error = text.set("x", defaults)
            print("\(name):", count, theirs.get(defaults), error.map { "\($0)" } ?? "ok")
        }
        access("suite", ProbePrefs(store: .userDefaults(suite: "probe.suite")))
        access("json", ProbePrefs(store: .json(url: URL(filePath: "\(folder)/theirs.json"))))
        access("key", UserDefaults.standard)
        Injected.groupID = "probe.group"
        access("group", Injected(nil))
        guard let suite = UserDefaults(suiteName: "probe.key"), let injected = UserDefaults(suiteName: "probe.injected")
        else { return print("no suite") }
        access("key of an object", suite)
        access("object", Injected(injected))
    }

    private struct theirs: PrefKey { static let defaultValue = 1.5 }
    private struct text: PrefKey { static let defaultValue = "" }

    private final class Injected: RVS_PersistentPrefs, @unchecked Sendable {
        private let injected: UserDefaults?
        override var keys: [String] { ["count", "text"] }
        override var userDefaults: UserDefaults? { injected ?? super.userDefaults }

        init(_ injected: UserDefaults?) {
            self.injected = injected
            super.init(key: "ProbePrefs")
        }
    }

    /// Makes Foundation write a number to the file of the domain in this locale.
    static func foundationWrites() {
        _ = setlocale(LC_ALL, "")
        UserDefaults.standard.set(["count": 0.1], forKey: "ProbePrefs")
        UserDefaults.standard.synchronize()
    }
}
