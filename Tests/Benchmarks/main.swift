import Foundation

// Measures this package and its alternatives. See README.md beside this file.

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    switch options.mode {
    case .help:
        print(Options.usage)
    case .list:
        Group.all.forEach { print($0.listing) }
    case .measure(let groups):
        try Session(place: Place(), rounds: options.rounds).run(groups)
    case .once(let row, let count):
        let operation = try row.prepare(Place())
        // Waits, because each read compares the bytes of a new file until the clock that stamps files has moved on.
        usleep(50_000)
        _ = try operation.run(count)
    }
} catch {
    try? FileHandle.standardError.write(contentsOf: Data("Benchmarks: \(error)\n".utf8))
    exit(error is UsageError ? EX_USAGE : EXIT_FAILURE)
}
