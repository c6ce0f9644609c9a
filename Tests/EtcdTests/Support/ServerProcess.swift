import Foundation
import TestSupport
import Testing

/// A server in a process of its own.
///
/// It ends with this process, however that ends: a shell waits for the end of its input, kills the server then, and removes its data.
final class ServerProcess {
    private let pid: pid_t
    private let shell: SpawnedProcess
    private let input: PipeEnds

    /// - Parameter data: the folder of its data, in one of its own.
    init(_ words: [String], data: URL? = nil) throws {
        input = try PipeEnds()
        let output = try PipeEnds()
        let script = #"""
            data=$1; shift
            "$@" >/dev/null 2>&1 & echo $!
            read -r word; kill -9 $!; kill -CONT $!; wait $! 2>/dev/null
            [ "$word" ] || [ ! "$data" ] || { until rm -rf "$data"; do :; done; rmdir "${data%/*}"; }
            """#
        shell = try SpawnedProcess(
            URL(filePath: "/bin/sh"), ["-c", script, "sh", data?.path ?? ""] + words,
            environment: ProcessInfo.processInfo.environment,
            .handles(input: input.reading, output: output.writing, errors: nil))
        try input.reading.close()
        try output.writing.close()
        let line = String(decoding: output.reading.availableData, as: UTF8.self)
        pid = try #require(pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)), "no process: \(line)")
    }

    func stop() { Foundation.kill(pid, SIGSTOP) }
    func resume() { Foundation.kill(pid, SIGCONT) }

    /// Ends it, also if it is stopped, and leaves its data. It has ended afterwards: another server can have its port.
    func kill() {
        Foundation.kill(pid, SIGKILL)
        Foundation.kill(pid, SIGCONT)
        try? input.writing.write(contentsOf: Data("keep\n".utf8))
        try? input.writing.close()
        _ = shell.code
    }
}
