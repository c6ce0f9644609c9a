package import Foundation

/// A pipe that no other program inherits. On Linux, one of Foundation's may reach a program that another thread starts: closing an end
/// closes it for good only when that program has ended.
package struct PipeEnds {
    package let reading: FileHandle
    package let writing: FileHandle

    package init() throws {
        #if os(Linux)
            var ends: [Int32] = [0, 0]
            guard Self.pipe2(&ends, O_CLOEXEC) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
            writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        #else
            let pipe = Pipe()
            (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
            for end in [reading, writing] { _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) }
        #endif
    }

    #if os(Linux)
        /// Swift's import of Glibc leaves it out.
        @_silgen_name("pipe2") private static func pipe2(_ ends: UnsafeMutablePointer<Int32>, _ flags: Int32) -> Int32
    #endif
}
