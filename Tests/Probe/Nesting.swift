import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport

/// Deep values on threads with a small stack.
enum Nesting {
    /// Assigns 63 levels to a file that has 70. Runs each step on such a thread. Prints the name of a step before it runs, so that the last
    /// printed step is the one that crashed.
    static func run(kibibytes: Int, _ file: URL) throws {
        let content = ["theirs": nested(70, 1), "ProbePrefs": ["text": nested(68, 1)]]
        if file.pathExtension == "json" {
            try JSONSerialization.data(withJSONObject: content).write(to: file)
        } else {
            try writePropertyList(content, to: file, as: file.pathExtension == "xml" ? .xml : .binary)
        }
        let store = Probe.store(file)
        let prefs = ProbePrefs(store: store)
        for (name, step) in steps(63, store, prefs) {
            say(name)
            try onSmallStack(kibibytes: kibibytes) {
                step()
                if let error = prefs.lastError { say(String("\(error)".suffix(100))) }
            }
        }
        say("done")
    }

    private static func nested(_ levels: Int, _ leaf: Any) -> Any {
        (0..<levels).reduce(leaf) { (value, level) -> Any in
            if level.isMultiple(of: 2) { [value] as [Any] } else { ["k": value] as [String: Any] }
        }
    }

    /// A deep value in objects of other kinds, which are copied.
    private static func wrapped(_ levels: Int) -> Any {
        (0..<levels).reduce(1 as Any) { (value, level) -> Any in
            switch level % 4 {
            case 0: return NSArray(object: value)
            case 1: return NSDictionary(object: value, forKey: "k" as NSString)
            case 2: return [Optional(value)]
            default: return ["k": value] as [AnyHashable: Any]
            }
        }
    }

    private static func steps(
        _ levels: Int, _ store: PrefsStore, _ prefs: ProbePrefs
    ) -> [(String, () -> Void)] {
        func exchange(_ format: ExportFormat) {
            if let data = prefs.exported(as: format) { prefs.import(data, merge: true) }
        }
        return [
            ("read", { _ = prefs.values }),
            ("read again", { prefs.reload() }),
            ("assign another key", { prefs["count"] = 1 }),
            ("assign", { prefs["text"] = nested(levels, 1) }),
            ("assign an equal value", { prefs["text"] = nested(levels, 1) }),
            ("assign another value", { prefs["text"] = nested(levels, 2) }),
            ("assign a wrapped value", { prefs["text"] = wrapped(levels) }),
            ("change in place", { prefs.values["count"] = 2 }),
            ("update", { prefs.update { $0["text"] = nested(levels, 3) } }),
            (
                "observe",
                {
                    let observation = prefs.onChange { _ in }
                    prefs["text"] = nested(levels, 4)
                    observation.cancel()
                }
            ),
            ("export binary", { exchange(.binary) }),
            ("export XML", { exchange(.xml) }),
            ("export JSON", { exchange(.json) }),
            ("print", { _ = "\(prefs)" }),
            ("use a layer", { _ = ProbePrefs(store: .layered(store, below: [.values(["count": 1])])).values }),
            ("remove", { prefs["text"] = nil }),
        ]
    }
}
