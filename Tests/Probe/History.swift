import Foundation
import PersistentPreferences
import TestSupport
import WriteOperations

private final class HistoryPrefs: PersistentPrefs, @unchecked Sendable {
    /// `x` and `y` are always written together.
    override var allowedKeys: [String] { ["a", "b", "x", "y"] }

    override func prefsDidFail(_ error: PrefsError) {
        // Ignores the error of flush() for a root that was never written.
        if case .noStoredPrefsForKey = error { return }
        fatalError("\(error)")
    }
}

/// Makes random accesses in two threads, and prints the value and the time of each. Without a number of operations it
/// only reads, until it gets the command to stop.
extension Probe {
    static func history(_ arguments: [String]) throws {
        guard arguments.count >= 3, let seed = UInt64(arguments[0]), let operations = Int(arguments[1]),
            let process = Int(arguments[2])
        else { fatalError("history SEED OPERATIONS PROCESS [FILE]") }
        let file = arguments.count > 3 ? URL(filePath: arguments[3]) : nil
        let threads = (0..<2).map { HistoryThread(process: process, number: $0, seed: seed, file: file) }
        // All processes begin at once.
        say("ready")
        guard readLine() == "go" else { fatalError("nobody said go") }
        let shared = threads[0].makePrefs()
        // One signal for each thread.
        let stop = DispatchSemaphore(value: 0)
        if operations == 0 {
            Thread.detachNewThread {
                _ = readLine()
                for _ in threads { stop.signal() }
            }
        }
        inThreads(threads.count) {
            if operations == 0 {
                threads[$0].watch(shared, until: stop)
            } else {
                threads[$0].run(operations, on: shared)
            }
        }
        for thread in threads { thread.record.forEach { print($0) } }
        print("end")
    }
}

/// The operations of one thread. Not shared while it runs.
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
        file.map { HistoryPrefs(store: .propertyList(url: $0)) } ?? HistoryPrefs()
    }

    func run(_ operations: Int, on shared: HistoryPrefs) {
        for _ in 0..<operations {
            call += 1
            if Bool.random(using: &generator) { readAnything(of: shared) } else { writeAnything(to: shared) }
        }
    }

    /// Reads until the signal, because reads take microseconds and writes milliseconds: a fixed number of reads
    /// would end before the first commit.
    func watch(_ shared: HistoryPrefs, until stop: DispatchSemaphore) {
        while stop.wait(timeout: .now() + Double.random(in: 0...0.002, using: &generator)) == .timedOut {
            call += 1
            readAnything(of: shared)
        }
    }

    private func readAnything(of shared: HistoryPrefs) {
        let key = ["a", "b", "x", "y"].randomElement(using: &generator) ?? "a"
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: read(key, "subscript") { shared[key] }
        case 1: read(key, "fresh") { makePrefs()[key] }
        case 2:
            read(key, "flush") {
                shared.reload()
                return shared[key]
            }
        case 3: readAll("values") { shared.values }
        default: readAll("fresh-values") { makePrefs().values }
        }
    }

    private func writeAnything(to shared: HistoryPrefs) {
        let key = Bool.random(using: &generator) ? "a" : "b"
        let value = firstValue + call
        switch Int.random(in: 0..<5, using: &generator) {
        case 0, 1:
            let operation = Self.operations.randomElement(using: &generator) ?? .subscripted
            write([key], value, operation, WriteTarget(shared, key: key) { value })
        case 2: exchange(key, value, shared)
        case 3:
            let operation = Self.operations.filter(\.storesSeveralKeys).randomElement(using: &generator) ?? .update
            write(["x", "y"], value, operation, WriteTarget(shared, key: "x", with: ["y": value]) { value })
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

    /// Those that write the given keys of an existing instance and no others.
    private static let operations = WriteOperation.of(.instance).filter {
        $0.effect == .puts && $0.keepsOtherKeys && $0 != .initializer
    }

    private func write(_ keys: [String], _ value: Int, _ operation: WriteOperation, _ target: WriteTarget) {
        write(keys, value, operation.rawValue) {
            _ =
                operation.isAsync
                ? Probe.waiting { await target.perform(operation) } : target.performBlocking(operation)
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
        let begin = HistoryOperation.now()
        let result = body()
        return (result, begin, HistoryOperation.now())
    }
}
