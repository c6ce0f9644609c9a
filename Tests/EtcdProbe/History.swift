import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import TestSupport

/// Does random accesses in two threads until it is told to stop, and prints what each of them read or wrote, and when.
///
/// Two roots, "a" and "b", are registers. A removal of a root leaves its number in another root, "a-removed", in the same transaction: the
/// register then has that number. Each thread also counts its updates of the root "counter".
final class History: @unchecked Sendable {
    private let threads: [HistoryThread]
    private let end = Locked(false)

    init(seed: UInt64, process: Int) throws {
        threads = try (0..<2).map { try HistoryThread(process: process, number: $0, seed: seed) }
    }

    func run() {
        say("ready")
        guard readLine() == "go" else { fatalError("nobody said go") }
        Thread.detachNewThread { [end] in
            _ = readLine()
            end.withLock { $0 = true }
        }
        inThreads(threads.count) { [threads, end] number in
            while !end.withLock({ $0 }) {
                for _ in 0..<10 { threads[number].step() }
                say("progress")
            }
            threads[number].resolve()
        }
        for thread in threads {
            thread.history.forEach { say($0) }
            say("counted \(thread.name) \(thread.counted)")
            say("failures \(thread.name) \(thread.failures) \(thread.unknown)")
        }
        say("end")
    }
}

/// One thread of it. Not shared while it runs.
private final class HistoryThread: @unchecked Sendable {
    let name: String
    private let store: EtcdStore
    private var generator: SeededGenerator
    private var next: Int
    private var call = 0
    private var record: [HistoryOperation] = []
    /// Writes that nobody knows the outcome of: they count if somebody has read them.
    private var uncertain: [HistoryOperation] = []
    /// How often this thread has incremented its counter; that of an uncertain increment is found out.
    private(set) var counted = 0
    private var isCountUnknown = false
    private(set) var failures = 0
    private(set) var unknown = 0

    var history: [String] { record.map { "\($0)" } + uncertain.map { "maybe \($0)" } }

    init(process: Int, number: Int, seed: UInt64) throws {
        name = "\(process).\(number)"
        store = try EtcdProbe.store(.current, deadline: .seconds(4))
        generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(process * 10 + number))
        next = (process * 10 + number + 1) * 10_000_000
    }

    func step() {
        call += 1
        next += 1
        let key = Bool.random(using: &generator) ? "a" : "b"
        let value = next
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...2: read(key)
        case 3: readInTransaction(key)
        case 4, 5: write([key: value], "set") { try self.store.update(root: key) { $0 = ["v": value] } }
        case 6: exchange(key, value)
        case 7:
            write([key: value], "remove") {
                try self.store.update(root: key) { root in
                    root = nil
                    try self.store.update(root: key + "-removed") { $0 = ["v": value] }
                }
            }
        case 8:
            write(["a": value, "b": value], "both") {
                try self.store.update(root: "b") { root in
                    root = ["v": value]
                    try self.store.update(root: "a") { $0 = ["v": value] }
                }
            }
        default: increment()
        }
    }

    /// The value of a register, in a transaction.
    private func value(of key: String) throws -> Int? {
        try store.read(root: key)?["v"] as? Int ?? store.read(root: key + "-removed")?["v"] as? Int
    }

    private func read(_ key: String) {
        timed { begin, end in
            let value = try self.store.read(root: key)?["v"] as? Int
            // The number of a removal is not there, so the test judges it by itself.
            self.add(key, .read(value), begin, end(), value == nil ? "missing" : "read")
        }
    }

    private func readInTransaction(_ key: String) {
        timed { begin, end in
            var value: Int?
            try self.store.update(root: key + "-removed") { _ in value = try self.value(of: key) }
            self.add(key, .read(value), begin, end(), "transaction")
        }
    }

    private func write(_ values: [String: Int], _ manner: String, _ body: () throws -> Void) {
        let begin = HistoryOperation.now()
        perform(body) { end in
            for (key, value) in values { self.add(key, .write(value), begin, end, manner) }
        }
    }

    private func exchange(_ key: String, _ value: Int) {
        var old: Int?
        let begin = HistoryOperation.now()
        perform {
            try self.store.update(root: key) { root in
                old = try self.value(of: key)
                root = ["v": value]
            }
        } done: { end in
            self.add(key, .exchange(old, for: value), begin, end, "exchange")
        }
    }

    private func increment() {
        resolve()
        guard !isCountUnknown else { return }
        perform {
            try self.store.update(root: "counter") { root in
                var values = root ?? [:]
                values["all"] = (values["all"] as? Int ?? 0) + 1
                values[self.name] = (values[self.name] as? Int ?? 0) + 1
                root = values
            }
        } done: { end in
            if end == .max { self.isCountUnknown = true } else { self.counted += 1 }
        }
    }

    /// Reads whether an increment was stored. After another update of this thread, none of its requests is under way.
    func resolve() {
        for _ in 0..<10 where isCountUnknown {
            var found: Int?
            try? store.update(root: "resolved-\(name)") { root in
                found = try store.read(root: "counter")?[name] as? Int ?? 0
                root = ["call": call]
            }
            if let found { (counted, isCountUnknown) = (found, false) }
        }
    }

    /// Runs a write. It is told as done at infinity if nobody knows.
    private func perform(_ body: () throws -> Void, done: (_ end: Int) -> Void) {
        do {
            try body()
            done(HistoryOperation.now())
        } catch PrefsError.outcomeUnknown {
            unknown += 1
            done(.max)
        } catch PrefsError.notStored, PrefsError.unreadable, PrefsError.busy {
            failures += 1
        } catch {
            fatalError("\(error)")
        }
    }

    private func timed(_ body: (_ begin: Int, _ end: () -> Int) throws -> Void) {
        do {
            try body(HistoryOperation.now(), HistoryOperation.now)
        } catch PrefsError.notStored, PrefsError.unreadable, PrefsError.busy, PrefsError.outcomeUnknown {
            // Of unknown outcome if the other thread's update in the same commit is: what was read may be of that.
            failures += 1
        } catch {
            fatalError("\(error)")
        }
    }

    private func add(_ key: String, _ access: HistoryOperation.Access, _ begin: Int, _ end: Int, _ manner: String) {
        let operation = HistoryOperation(
            key, access, from: begin, to: end, thread: name, call: call, manner: manner)
        if end == .max { uncertain.append(operation) } else { record.append(operation) }
    }
}
