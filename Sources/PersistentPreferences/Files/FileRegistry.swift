/// The one object of each file in this process, for as long as a store uses it.
final class FileRegistry: @unchecked Sendable {
    static let shared = FileRegistry()

    private struct Entry {
        weak var file: PropertyListFile?
    }

    private let lock = Lock()
    /// By the bytes of the path: two spellings of a letter name two files.
    private var entries: [[UInt8]: Entry] = [:]

    /// - Parameter path: absolute, without links.
    func file(at path: String, system: SystemCalls) -> PropertyListFile {
        lock.withLock {
            let key = Array(path.utf8)
            if let file = entries[key]?.file { return file }
            entries = entries.filter { $0.value.file != nil }
            let file = PropertyListFile(path: path, system: system)
            entries[key] = Entry(file: file)
            return file
        }
    }
}
