import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsKeys
import PrefsStoreKit
import TestSupport
import WriteOperations

/// A subclass on the default store, as an app would have it.
final class ProbePrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { ["count", "text"] }

    var storedCount: Int { self["count"] as? Int ?? 0 }

    /// The last error, or "ok".
    var outcome: String { lastError.map { "\($0)" } ?? "ok" }

    /// The instance of a file.
    convenience init(file path: String) {
        self.init(store: .propertyList(url: URL(filePath: path, directoryHint: .notDirectory)))
    }
}

/// Prints a line at once, without a flush of all streams, which would wait for a thread that reads the input.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}

enum Probe {
    /// The file of the standard domain.
    static var domain: URL {
        guard let file = PrefsStore.standard.url else { fatalError("no file") }
        return file
    }

    /// A store on a file, in JSON if the extension says so.
    static func store(_ url: URL, layout: DomainLayout = .roots) -> PrefsStore {
        .propertyList(url: url, format: url.pathExtension == "json" ? .json : .binary, layout: layout)
    }

    /// Runs one check of the store contract over the standard domain or a suite, and prints what it found.
    static func conformance(_ name: String, updates: Int) throws {
        guard let check = (StoreCheck.all + StoreCheck.observing).first(where: { $0.id == name }) else {
            fatalError("no check \(name)")
        }
        try check.run(updates: updates) { CheckedStore(PrefsStore.standard) }
        try check.run(updates: updates) { CheckedStore(PrefsStore.userDefaults(suite: "probe.suite")) }
        print("passed")
    }

    /// Adds 1 a number of times, each time through a new instance.
    static func increment(count: Int) {
        for _ in 0..<count {
            let error = ProbePrefs().update { $0["count"] = ($0["count"] as? Int ?? 0) + 1 }.failure
            if let error { fatalError("\(error)") }
        }
    }

    /// Waits for an asynchronous call, on a thread that does not run its tasks.
    static func waiting<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> R {
        nonisolated(unsafe) var result: R?
        let isOver = DispatchSemaphore(value: 0)
        Task.detached {
            result = await body()
            isOver.signal()
        }
        isOver.wait()
        guard let result else { fatalError("no result") }
        return result
    }

    /// Each operation on a `UserDefaults`, over the standard domain and a suite: the error, the number in
    /// the file, and the number that is read.
    static func writeToDefaults() {
        guard let suite = UserDefaults(suiteName: "probe.written") else { fatalError("no suite") }
        let written = domain.deletingLastPathComponent().appending(path: "probe.written.plist")
        for operation in WriteOperation.of(.defaults) {
            for defaults in operation == .keyValue ? [.standard] : [UserDefaults.standard, suite] {
                ContainerKey.set(1, defaults)
                let error = ContainerKey.perform(operation, 2, in: defaults)
                let stored = (try? propertyList(at: defaults === suite ? written : domain))?[ContainerKey.stringKey]
                print(operation, error.map { "\($0)" } ?? "ok", stored ?? "nothing", ContainerKey.get(defaults))
            }
        }
    }

    /// Answers line by line: `set N` is acknowledged once N is committed, and `get` prints the current value.
    static func serve() {
        let prefs = ProbePrefs()
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "set":
                prefs["count"] = words.dropFirst().first.flatMap { Int($0) }
                say(prefs.outcome)
            case "get":
                say("\(prefs.storedCount)")
            default:
                say("no command \(line)")
            }
        }
    }

    /// Prints the results and errors of one write and one read.
    static func report() {
        let prefs = ProbePrefs()
        print("init:", prefs.outcome)
        prefs["count"] = 1
        print("write:", prefs.outcome)
        print("read:", prefs["count"] ?? "nil", prefs.outcome)
    }

    /// The file is damaged, and other code has set a key on UserDefaults, whose next synchronize() would write over the
    /// file.
    static func damage() throws {
        ProbePrefs()["count"] = 7
        let prefs = ProbePrefs()
        try Data("damaged".utf8).write(to: domain)
        UserDefaults.standard.set("theirs", forKey: "other")
        // The file is not being saved.
        _ = prefs.problems()
        // The read uses only the engine: UserDefaults is not asked to read a damaged file.
        print(prefs["count"] ?? "lost", prefs.lastError == nil ? "ok" : "damaged")
        prefs.update { $0["text"] = "x" }
        if prefs.lastError?.isWarning == true { print("quarantined") }
        print(
            prefs["count"] ?? "lost", prefs["text"] ?? "lost", UserDefaults.standard.string(forKey: "other") ?? "lost")
    }

    private struct count: PrefKey { static let defaultValue = 0 }
    private struct other: PrefKey { static let defaultValue = 0 }

    /// Another program writes states that UserDefaults does not read, because it has read an older one. A `PrefKey`
    /// returns the newest state, also if a key has come or gone since that older one.
    static func olderStates() {
        try? FileManager.default.createDirectory(
            at: domain.deletingLastPathComponent(), withIntermediateDirectories: true)
        var found: [Int] = []
        for state in [["other": 1], ["count": 1], ["count": 2, "other": 1], [:], ["count": 3], ["other": 2]] {
            try? writePropertyList(state, to: domain, as: .xml)
            _ = UserDefaults.standard.object(forKey: "absent")
            found.append(count.value)
        }
        print(found, UserDefaults.standard.integer(forKey: "count"))
    }

    /// A change in place of a suite starts from the value of its domain: an argument and a registered default, which
    /// are read, do not become permanent.
    static func volatileValues() {
        guard let suite = UserDefaults(suiteName: "probe.volatile") else { fatalError("no suite") }
        suite.register(defaults: ["registered": 5])
        print(Registered()[suite], Argument()[suite], suite[Registered.self])
        Registered()[suite] += 1
        Argument()[suite] += "x"
        suite[Registered.self] += 1
        Registered.modify(in: suite) { $0 += 1 }
        let domain = suite.persistentDomain(forName: "probe.volatile")
        print(domain?["registered"] as? Int ?? -1, domain?["argument"] as? String ?? "nil")
        // A stored value that is equal to a registered one is found.
        Registered.set(5, suite)
        Registered()[suite] += 1
        print(Registered()[suite])
    }

    private struct Registered: PrefKey {
        static let stringKey = "registered"
        static let defaultValue = 0
    }

    /// `-argument 7` is an argument of the program.
    private struct Argument: PrefKey {
        static let stringKey = "argument"
        static let defaultValue = ""
    }

    /// Other code has set a key on UserDefaults and not synchronized it. A `PrefKey` returns it, and writes nothing.
    /// Values that another process has written in the meantime are returned, too.
    static func unsynchronized() {
        count.value = 1
        UserDefaults.standard.set(2, forKey: "count")
        print(count.value)
        UserDefaults.standard.removeObject(forKey: "count")
        print(count.value)
        print(bytesInHome())
        count.value = 3
        print(count.value, UserDefaults.standard.integer(forKey: "count"))
        // Writes as another process does, after UserDefaults has read the older state.
        try? writePropertyList(["count": 4], to: domain, as: .xml)
        print(count.value, UserDefaults.standard.integer(forKey: "count"))
        // After a write of this package, UserDefaults reads the file when it is asked for another key. The values that
        // it reads then were not set by other code.
        count.value = 7
        for number in [1, 2, 3] {
            try? writePropertyList(["count": number], to: domain, as: .xml)
            if number == 1 { _ = other.value } else { print(count.value) }
        }
        UserDefaults.standard.register(defaults: ["count": 9])
        count.reset()
        print(count.value, UserDefaults.standard.integer(forKey: "count"))
        print(bytesInHome())
    }

    /// The bytes of the key in the domain's file, read by our own store, and the names beside the file.
    private static func bytesInHome() -> String {
        guard let list = try? propertyList(at: domain),
            let names = try? FileManager.default.contentsOfDirectory(atPath: domain.deletingLastPathComponent().path)
        else { return "nothing" }
        return "\(list["count"] ?? "no count") \(names.sorted())"
    }
}
