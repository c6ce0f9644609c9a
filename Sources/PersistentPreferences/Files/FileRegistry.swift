/// The one object of each file in this process, for as long as a store uses it.
final class FileRegistry: @unchecked Sendable {
    static let shared = FileRegistry()

    private struct Entry {
        weak var file: PropertyListFile?
    }

    private let lock = Lock()
    private var entries: [String: Entry] = [:]

    /// - Parameter path: absolute, without links.
    func file(at path: String, system: SystemCalls) -> PropertyListFile {
        lock.withLock {
            if let file = entries[path]?.file { return file }
            entries = entries.filter { $0.value.file != nil }
            let file = PropertyListFile(path: path, system: system)
            entries[path] = Entry(file: file)
            return file
        }
    }
}
