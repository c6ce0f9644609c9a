package import Foundation

extension Process {
    /// Starts it while no other thread of the tests starts a process.
    ///
    /// Foundation on Linux notices the end of a process when nobody has its end of a socket any more, and other programs inherit that socket
    /// if they are started in the same moment: the process would seem to run until they have ended.
    package func runAlone() throws {
        try Self.alone { try run() }
    }

    /// Runs the closure, which starts a process, while no other thread of the tests starts one.
    package static func alone<R>(_ body: () throws -> R) rethrows -> R {
        try starting.withLock { try body() }
    }

    private static let starting = NSLock()
}
