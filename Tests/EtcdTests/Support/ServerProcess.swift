import Foundation
import TestSupport

/// A server in a process of its own.
///
/// It ends with this process, however that ends: a shell waits for the end of its input, kills the server then, and removes its data.
final class ServerProcess {
    private let pid: pid_t
    private let shell = Process()
    private let input = Pipe()
    /// Not `waitUntilExit`, which runs a run loop on the caller's thread: Foundation destroys that loop when the thread ends, and a wait may
    /// last for ever then.
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter data: the folder of its data, in one of its own.
    init(_ words: [String], data: URL? = nil) throws {
        let output = Pipe()
        shell.executableURL = URL(filePath: "/bin/sh")
        let script = #"""
            data=$1; shift
            "$@" >/dev/null 2>&1 & echo $!
            read -r word; kill -9 $!; kill -CONT $!
            [ "$word" ] || [ ! "$data" ] || { until rm -rf "$data"; do :; done; rmdir "${data%/*}"; }
            """#
        shell.arguments = ["-c", "exec 2>/dev/null\n" + script, "sh", data?.path ?? ""] + words
        shell.standardInput = input
        shell.standardOutput = output
        shell.terminationHandler = { [ended] _ in ended.signal() }
        try shell.runAlone()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let pid = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw EtcdCluster.Failure(description: "no process: \(line)")
        }
        self.pid = pid
    }

    func stop() { Foundation.kill(pid, SIGSTOP) }
    func resume() { Foundation.kill(pid, SIGCONT) }

    /// Ends it, also if it is stopped, and leaves its data.
    func kill() {
        Foundation.kill(pid, SIGKILL)
        Foundation.kill(pid, SIGCONT)
        try? input.fileHandleForWriting.write(contentsOf: Data("keep\n".utf8))
        try? input.fileHandleForWriting.close()
        ended.wait()
        ended.signal()
    }
}
