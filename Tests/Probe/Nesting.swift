import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers

/// Deep values on threads with a small stack.
enum Nesting {
    /// Runs each step on such a thread, or one step there and the others on the main thread. Prints the name of a step
    /// before it runs, so that the last printed step is the one that crashed.
    ///
    /// - Parameter arguments: the levels of an assigned value, the levels of a value in the file, the size of the stack
    ///   in KiB, a file, and possibly the name of a step.
    static func run(_ arguments: [String]) throws {
        guard arguments.count >= 4, let levels = Int(arguments[0]), let foreign = Int(arguments[1]),
            let size = Int(arguments[2])
        else { fatalError("expected LEVELS LEVELS KIB FILE [STEP]") }
        let file = URL(filePath: arguments[3])
        if foreign > 0 {
            let text = ["theirs": nested(foreign, 1), "ProbePrefs": ["text": nested(foreign - 2, 1)]]
            if file.pathExtension == "json" {
                try JSONSerialization.data(withJSONObject: text).write(to: file)
            } else {
                let format: PropertyListSerialization.PropertyListFormat =
                    file.pathExtension == "xml" ? .xml : .binary
                try PropertyListSerialization.data(fromPropertyList: text, format: format, options: 0).write(to: file)
            }
        }
        for (name, step) in steps(levels, file) {
            say(name)
            guard arguments.count == 4 || name == arguments[4] else {
                step()
                continue
            }
            let done = DispatchSemaphore(value: 0)
            nonisolated(unsafe) let step = step
            let thread = Thread {
                step()
                done.signal()
            }
            thread.stackSize = size << 10
            thread.start()
            done.wait()
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

    private static func steps(_ levels: Int, _ file: URL) -> [(String, () -> Void)] {
        let store = Probe.store(file)
        let prefs = ProbePrefs(store: store)
        func exchange(_ format: ExportFormat) {
            if let data = prefs.exported(as: format) { prefs.import(data, merge: true) }
        }
        let steps: [(String, () -> Void)] = [
            ("read", { _ = prefs.values }),
            ("read again", { prefs.flush() }),
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
            ("use a layer", { _ = ProbePrefs(store: LayeredStore(store, below: [.values(["count": 1])])).values }),
            ("remove", { prefs["text"] = nil }),
        ]
        return steps.map { name, step in
            (
                name,
                {
                    step()
                    if let error = prefs.lastError { say(String("\(error)".suffix(100))) }
                }
            )
        }
    }
}
