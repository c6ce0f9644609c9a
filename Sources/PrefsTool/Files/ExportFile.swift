import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Writes and reads the files of exports and imports.
enum ExportFile {
    /// Writes a file as `SystemCalls.replaceFile(at:with:mode:)` does. The path of an open descriptor, such as `/dev/stdout`, is written to
    /// directly.
    static func write(
        _ bytes: Data, to path: String, mode: mode_t? = nil, system: SystemCalls = .real
    ) throws(StorageFailure) {
        guard let descriptor = openDescriptor(path) else {
            return try system.replaceFile(at: path, with: bytes, mode: mode)
        }
        do throws(StorageFailure) {
            try system.writeAll(bytes, to: descriptor, behind: nil)
        } catch {
            throw error.at(path)
        }
    }

    /// Reads a file, and stops as soon as it exceeds the limit of an import. A FIFO is read only if root or the caller
    /// owns it.
    ///
    /// For a last good copy, returns the bytes of the commit.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - limit: the number of bytes that are enough.
    static func read(_ path: String, limit: Int = PropertyListLimits.fileBytes) throws(StorageFailure) -> Data {
        let system = SystemCalls.real
        do throws(StorageFailure) {
            if let descriptor = openDescriptor(path) { return try read(descriptor, limit: limit) }
            let names = FileNames(path: try PathResolution(path, system: system).target)
            let file = try system.withFolder(of: names) { folder, name throws(StorageFailure) in
                try openFileOrPipe(name, in: folder, system)
            }
            return try read(file.descriptor, limit: limit)
        } catch {
            throw error.path == path ? error : error.at(error.path.isEmpty ? path : error.path)
        }
    }

    /// Reads a file, or the standard input if there is no path.
    static func read(_ path: String?, orInput input: Int32) throws(StorageFailure) -> Data {
        if let path { return try read(path) }
        do throws(StorageFailure) { return try read(input) } catch { throw error.at("standard input") }
    }

    /// The descriptor that a path such as `/dev/fd/63` names. Shells use such paths for pipes, which have no other
    /// path.
    static func openDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdin": return STDIN_FILENO
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default: break
        }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.utf8.starts(with: folder.utf8) {
            let number = path.utf8.dropFirst(folder.utf8.count)
            return number.allSatisfy { (0x30...0x39).contains($0) } ? Int32(Substring(number)) : nil
        }
        return nil
    }

    private static func openFileOrPipe(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) -> OpenFile {
        let there = try system.status(ofPath: name, in: folder, followsLinks: false)
        if let there, there.kind == .other("a FIFO"), [0, geteuid()].contains(there.owner) {
            let flags = O_RDONLY | O_NOCTTY | SystemCalls.followsNoLinks
            return OpenFile(try system.openRetrying(name, in: folder, flags), system)
        }
        guard let (file, _) = try system.openFile(name, in: folder) else {
            throw StorageFailure("open", "", code: ENOENT)
        }
        return file
    }

    private static func read(
        _ descriptor: Int32, limit: Int = PropertyListLimits.fileBytes
    ) throws(StorageFailure) -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StorageFailure("read", "", code: errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return (try? CheckedCopy.bytes(of: bytes)) ?? bytes
    }
}
