import Foundation
import PersistentPreferences

/// A program that closes descriptors, and a thread that ends the program.
enum Descriptors {
    /// Writes while another thread prints into the standard streams, which are closed. Reports to a file, because there
    /// is no stream.
    static func writeWithoutStreams(_ path: String, count: Int) throws {
        let prefs = ProbePrefs(file: path)
        // Opened before the thread prints, and moved away from the streams.
        let new = open(path + ".report", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        let report = fcntl(new, F_DUPFD, 3)
        close(new)
        Thread.detachNewThread {
            let text = "a line of a program that prints\n"
            while true {
                for stream in [STDOUT_FILENO, STDERR_FILENO] { _ = write(stream, text, text.utf8.count) }
                sched_yield()
            }
        }
        var errors: [String] = []
        for number in 1...count {
            prefs["count"] = number
            if let error = prefs.lastError { errors.append("\(number): \(error)") }
            if prefs["count"] as? Int != number { errors.append("\(number) is not read") }
        }
        let taken = (STDIN_FILENO...STDERR_FILENO).filter { fcntl($0, F_GETFD) >= 0 }
        try FileHandle(fileDescriptor: report).write(
            contentsOf: Data("\(errors.joined(separator: "\n")) \(taken)".utf8))
    }

    /// Closes all descriptors, as daemons do, and opens other files, which get the numbers of the closed ones.
    static func closeAll(_ path: String) {
        // Reads the file.
        var prefs: ProbePrefs? = ProbePrefs(file: path)
        for descriptor in 3..<64 as Range<Int32> { close(descriptor) }
        let own = (0..<40).map { open("\(path).own\($0)", O_RDWR | O_CREAT, 0o600) }
        let numbers = own.map(inode)
        for descriptor in own { _ = setAttribute(descriptor, "user.mine", "x", 1, 0) }
        func answer(_ step: String) {
            print("\(step):", prefs?.storedCount ?? 0, prefs?.outcome ?? "")
        }
        prefs?.update { $0["count"] = 2 }
        answer("write")
        print("attributes:", attribute(path, "user.mine", nil, 0) < 0 ? "its own" : "of another file")
        print("kept:", writable(path) ? "writable" : "read-only")
        // The program closes them inside an update, too.
        prefs?.update {
            $0["count"] = 3
            for descriptor in 3..<64 as Range<Int32> where !own.contains(descriptor) { close(descriptor) }
            for descriptor in 3..<64 as Range<Int32> where !own.contains(descriptor) { dup2(own[0], descriptor) }
        }
        print("update:", prefs?.outcome ?? "")
        answer("read")
        prefs = nil
        print("own:", own.map(inode) == numbers && own.allSatisfy { lseek($0, 0, SEEK_END) == 0 } ? "intact" : "harmed")
    }

    /// Whether a descriptor of the file may be written to.
    private static func writable(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        return (0..<64 as Range<Int32>).contains {
            inode($0) == UInt64(status.st_ino) && fcntl($0, F_GETFL) & O_ACCMODE != O_RDONLY
        }
    }

    @_silgen_name("fsetxattr")
    private static func setAttribute(
        _ descriptor: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>, _ size: Int, _ flags: Int32
    ) -> Int32

    @_silgen_name("getxattr")
    private static func attribute(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeMutablePointer<CChar>?, _ size: Int
    ) -> Int

    private static func inode(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Closes all descriptors repeatedly, and opens no files, so that the engine gets the old numbers for its files.
    static func closeOften(_ path: String) {
        let prefs = ProbePrefs(file: path)
        for number in 1...20 {
            for descriptor in 3..<64 as Range<Int32> { close(descriptor) }
            prefs["count"] = number
            if let error = prefs.lastError { print("\(number): \(error)") }
            if number % 2 == 0 { for descriptor in 3..<64 as Range<Int32> { close(descriptor) } }
            if prefs.storedCount != number { print("\(number) is not read") }
        }
        print("done")
    }

    nonisolated(unsafe) private static var shared: ProbePrefs?

    /// Ends the program inside an update. A handler that runs at its end writes, too.
    static func exitInUpdate(_ path: String) {
        shared = ProbePrefs(file: path)
        atexit {
            let prefs = Descriptors.shared
            for (key, value) in [("text", "at exit" as Any), ("count", 2)] {
                prefs?[key] = value
                say("\(key): \(prefs?.outcome ?? "")")
            }
        }
        shared?["count"] = 1
        // The second write of the handler equals the update.
        shared?.update { () -> Void in
            Descriptors.shared?["count"] = 2
            exit(0)
        }
    }
}
