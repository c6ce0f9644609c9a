/// The one object of each file in this process, for as long as a store uses it.
final class FileRegistry: @unchecked Sendable {
    static let shared = FileRegistry()

    /// By the bytes of the path: two spellings of a letter name two files. And by the system that it is a path of: tests
    /// have several.
    private struct Key: Hashable {
        let path: [UInt8]
        let system: ObjectIdentifier
    }

    private struct Entry {
        weak var file: PropertyListFile?
    }

    private let lock = Lock()
    private var entries: [Key: Entry] = [:]

    /// - Parameter path: absolute, without links.
    func file(at path: String, system: SystemCalls) -> PropertyListFile {
        lock.withLock {
            let key = Key(path: Array(path.utf8), system: ObjectIdentifier(system))
            if let file = entries[key]?.file { return file }
            entries = entries.filter { $0.value.file != nil }
            let file = PropertyListFile(path: path, system: system)
            entries[key] = Entry(file: file)
            return file
        }
    }
}
