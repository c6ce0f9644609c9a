import Foundation
import PersistentPreferences
import TestSupport

private final class HistoryPrefs: PersistentPrefs, @unchecked Sendable {
    /// `x` and `y` are always written together.
    override var keys: [String] { ["a", "b", "x", "y"] }

    override func prefsDidFail(_ error: PrefsError) {
        // flush() of a root that nobody has written yet.
        if case .noStoredPrefsForKey = error { return }
        fatalError("\(error)")
    }
}

/// Does random accesses in two threads and prints what each of them read or wrote, and when.
extension Probe {
    static func history(_ arguments: [String]) throws {
        guard arguments.count >= 3, let seed = UInt64(arguments[0]), let operations = Int(arguments[1]),
            let process = Int(arguments[2])
        else { fatalError("history SEED OPERATIONS PROCESS [FILE]") }
        let file = arguments.count > 3 ? URL(filePath: arguments[3]) : nil
        let threads = (0..<2).map { HistoryThread(process: process, number: $0, seed: seed, file: file) }
        // Everybody begins at once.
        print("ready")
        fflush(nil)
        guard readLine() == "go" else { fatalError("nobody said go") }
        let shared = threads[0].makePrefs()
        inThreads(threads.count) { threads[$0].run(operations, on: shared) }
        for thread in threads { thread.record.forEach { print($0) } }
        print("end")
    }
}

/// One thread of it. Not shared while it runs.
private final class HistoryThread: @unchecked Sendable {
    private(set) var record: [HistoryOperation] = []
    private let name: String
    private let file: URL?
    private var generator: SeededGenerator
    private let firstValue: Int
    private var call = 0

    init(process: Int, number: Int, seed: UInt64, file: URL?) {
        name = "\(process).\(number)"
        self.file = file
        generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(process * 10 + number))
        firstValue = (process * 10 + number + 1) * 1_000_000
    }

    func makePrefs() -> HistoryPrefs {
        file.map { HistoryPrefs(store: PropertyListFileStore(url: $0)) } ?? HistoryPrefs()
    }

    func run(_ operations: Int, on shared: HistoryPrefs) {
        for _ in 0..<operations {
            call += 1
            let key = Bool.random(using: &generator) ? "a" : "b"
            let anyKey = ["a", "b", "x", "y"].randomElement(using: &generator) ?? key
            let value = firstValue + call
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: read(anyKey, "subscript") { shared[anyKey] }
            case 1: read(anyKey, "fresh") { makePrefs()[anyKey] }
            case 2:
                read(anyKey, "flush") {
                    shared.flush()
                    return shared[anyKey]
                }
            case 3: readAll("values") { shared.values }
            case 4: readAll("fresh-values") { makePrefs().values }
            case 5: write([key], value, "subscript") { shared[key] = value }
            case 6: write([key], value, "in-place") { shared.values[key] = value }
            case 7: exchange(key, value, shared)
            case 8:
                write(["x", "y"], value, "update") {
                    shared.update {
                        $0["x"] = value
                        $0["y"] = value
                    }
                }
            default:
                let prefs = makePrefs()
                write(["x", "y"], value, "nested") {
                    prefs.update {
                        prefs["y"] = value
                        shared["x"] = value
                    }
                }
            }
        }
    }

    private func read(_ key: String, _ manner: String, _ body: () -> Any?) {
        let (value, begin, end) = timed(body)
        add(key, .read(value as? Int), begin, end, manner)
    }

    private func readAll(_ manner: String, _ body: () -> [String: Any]) {
        let (values, begin, end) = timed(body)
        for key in ["a", "b", "x", "y"] { add(key, .read(values[key] as? Int), begin, end, manner) }
    }

    private func write(_ keys: [String], _ value: Int, _ manner: String, _ body: () -> Void) {
        let (_, begin, end) = timed(body)
        for key in keys { add(key, .write(value), begin, end, manner) }
    }

    private func exchange(_ key: String, _ value: Int, _ prefs: HistoryPrefs) {
        var old: Int?
        let (_, begin, end) = timed {
            prefs.update {
                old = $0[key] as? Int
                $0[key] = value
            }
        }
        add(key, .exchange(old, for: value), begin, end, "update")
    }

    private func add(_ key: String, _ access: HistoryOperation.Access, _ begin: Int, _ end: Int, _ manner: String) {
        record.append(HistoryOperation(key, access, from: begin, to: end, thread: name, call: call, manner: manner))
    }

    private func timed<R>(_ body: () -> R) -> (R, begin: Int, end: Int) {
        let begin = Self.now()
        let result = body()
        return (result, begin, Self.now())
    }

    /// The same clock in every process.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
