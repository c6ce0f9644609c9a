import Foundation

/// One run of libFuzzer: the number of executed inputs, and the report of an input that breaks a promise.
enum FuzzTarget {
    // libFuzzer calls from one thread.
    nonisolated(unsafe) private static var inputs = 0
    nonisolated(unsafe) private static var bytes = 0

    /// Writes the seeds and exits if the environment asks for them. If not, arranges that the counts are written at
    /// exit.
    static func begin(_ seeds: () throws -> [Data]) throws {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["PREFS_FUZZ_SEEDS"] {
            for (number, seed) in try seeds().enumerated() {
                try seed.write(to: URL(fileURLWithPath: "\(folder)/seed-\(number)"))
            }
            exit(0)
        }
        atexit { FuzzTarget.writeCounts() }
    }

    static func run(_ start: UnsafePointer<UInt8>?, _ count: Int, _ check: (Data) throws -> Bool) -> CInt {
        inputs += 1
        bytes += count
        do {
            _ = try check(Data(UnsafeBufferPointer(start: start, count: count)))
        } catch {
            writeCounts()
            fatalError("a promise is broken: \(error)")
        }
        return 0
    }

    private static func writeCounts() {
        guard let path = ProcessInfo.processInfo.environment["PREFS_FUZZ_COUNTS"],
            let file = FileHandle(forWritingAtPath: path)
        else { return }
        file.seekToEndOfFile()
        file.write(Data("\(inputs) \(bytes)\n".utf8))
        (inputs, bytes) = (0, 0)
    }
}
