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
        let file = try BareWrite.replace(name, by: bytes, in: folder)
        closeReplaced()
        (replaced, current) = (current, file)
    }

    func closeReplaced() {
        if replaced >= 0 { close(replaced) }
        replaced = -1
    }
}
