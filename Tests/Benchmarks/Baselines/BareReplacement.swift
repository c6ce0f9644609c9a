import Foundation

/// The minimum that replaces a file durably: open, write, fsync, rename, fsync of the folder. It has no lock, no check
/// and no copy.
///
/// The replaced file stays open until `closeReplaced`, as in a cache that validates itself.
final class BareReplacement {
    private let folder: Int32
    private let name: String
    private let bytes: Data
    private var current: Int32 = -1
    private var replaced: Int32 = -1

    init(_ file: URL, bytes: Data) throws {
        let path = file.deletingLastPathComponent().path
        folder = try SystemError.check(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the folder")
        name = file.lastPathComponent
        self.bytes = bytes
    }

    deinit {
        closeReplaced()
        if current >= 0 { close(current) }
        close(folder)
    }

    func callAsFunction() throws {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
        let file = try SystemError.check(openat(folder, ".\(name).tmp", flags, 0o600), "open a temporary file")
        try bytes.withUnsafeBytes { bytes in
            _ = try SystemError.check(write(file, bytes.baseAddress, bytes.count), "write")
        }
        try BareWrite.flush(file)
        try SystemError.check(renameat(folder, ".\(name).tmp", folder, name), "rename")
        try BareWrite.flush(folder)
        closeReplaced()
        (replaced, current) = (current, file)
    }

    func closeReplaced() {
        if replaced >= 0 { close(replaced) }
        replaced = -1
    }
}
