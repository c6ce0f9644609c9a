import Foundation

/// Input, output and errors of the process, which have the descriptors 0 to 2.
package enum StandardStreams {
    /// Moves an open file from the descriptors of the standard streams, which a program may have closed, to 3 or
    /// higher, so that the program's output does not go into a file of the engine.
    ///
    /// - Returns: -1 with the code in `errno` if there is no descriptor left. The given descriptor is closed in both
    ///   cases.
    package static func above(_ descriptor: Int32) -> Int32 {
        guard 0...STDERR_FILENO ~= descriptor else { return descriptor }
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let code = errno
        _ = Foundation.close(descriptor)
        errno = code
        return moved
    }
}
