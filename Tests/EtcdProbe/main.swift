import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import TestSupport

// What the tests of EtcdStore run in processes of their own: `EtcdProbe COMMAND URL ARGUMENTS`, with the URL of a store.
var arguments = CommandLine.arguments.dropFirst()
let command = arguments.popFirst() ?? ""
let url = arguments.popFirst() ?? ""

func store(_ reads: EtcdStore.ReadMode = .followed, deadline: Duration = .seconds(10 * Patience.slowness)) throws
    -> EtcdStore
{
    try EtcdStore(url: url, options: .init(reads: reads, deadline: deadline))
}

extension EtcdStore {
    func read(root: String) throws -> [String: Any]? { try store.read(root: root) }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try store.observe(root: root, action)
    }
}

/// Without a flush of all streams, which would wait for the thread that reads the input.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}

/// The next argument.
@MainActor func number(default usual: Int = 1) -> Int { arguments.popFirst().flatMap { Int($0) } ?? usual }

func count(in root: [String: Any]?) -> Int { root?["count"] as? Int ?? 0 }

switch command {
case "increment":
    let store = try store()
    for _ in 0..<number() {
        try store.update(root: "A") { $0 = ["count": count(in: $0) + 1] }
    }
    say("ok")
case "assign":
    try Latency.assign(number())
    say("ok")
case "known":
    // Ends before the watch has heard of the write.
    let file = arguments.popFirst().map { URL(filePath: $0) }
    let store = try EtcdStore(url: url, lastKnown: file)
    _ = try store.read(root: "A")
    try store.update(root: "A") { $0 = ["count": 7] }
    say("ok")
    withExtendedLifetime(store) { exit(0) }
case "streams":
    // As a program that has closed two of them.
    for stream in [STDIN_FILENO, STDOUT_FILENO] { close(stream) }
    let store = try store()
    try store.update(root: "A") { $0 = ["count": 1] }
    let sockets = [STDIN_FILENO, STDOUT_FILENO].filter { stream in
        var status = stat()
        return fstat(stream, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
    withExtendedLifetime(store) {
        try? FileHandle.standardError.write(contentsOf: Data("sockets: \(sockets)\n".utf8))
    }
case "release":
    // Ends as soon as its store does.
    try store().update(root: "C") { $0 = ["count": 1] }
    say("ok")
case "threads":
    try Scarcity.threads(number())
case "history":
    try History(seed: UInt64(number()), process: number()).run()
case "fork":
    try Forking.run()
case "hold":
    // Holds the lock until it is told to go on, or stopped or killed. Waits for longer than those that shall give up.
    try store(deadline: .seconds(40 * Patience.slowness)).update(root: "A") { root in
        root = ["count": 1_000]
        say("holding")
        _ = readLine()
    }
    say("released")
case "latency":
    try Latency.report()
case "fail":
    try Scarcity.fail(number())
case "memory":
    try Scarcity.memory()
case "threadless":
    try Scarcity.threadless()
case "descriptors":
    try Scarcity.descriptors()
case "work":
    let root = arguments.popFirst() ?? "A"
    try Latency.work(on: root, seconds: number(default: 5), manner: arguments.popFirst() ?? "update")
default:
    fatalError("no command \(command)")
}
