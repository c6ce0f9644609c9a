import PrefsPropertyLists

/// The one object of each file in this process, for as long as a store uses it.
final class FileRegistry: Sendable {
    static let shared = FileRegistry()

    /// By the bytes of the path: two spellings of a letter name two files. By the system that it is a path of: tests have
    /// several. And by what it is read as: two views of one file know of each other as two processes do.
    private struct Key: Hashable {
        let path: [UInt8]
        let system: ObjectIdentifier
        let root: PropertyListFile.Root
    }

    private struct Entry {
        weak var file: PropertyListFile?
    }

    private let entries = Locked<[Key: Entry]>([:])

    /// - Parameter path: absolute, without links.
    func file(
        at path: String, holds root: PropertyListFile.Root = .domain, system: SystemCalls
    ) -> PropertyListFile {
        entries.withLock { entries in
            let key = Key(path: Array(path.utf8), system: ObjectIdentifier(system), root: root)
            if let file = entries[key]?.file { return file }
            entries = entries.filter { $0.value.file != nil }
            let file = PropertyListFile(path: path, holds: root, system: system)
            entries[key] = Entry(file: file)
            return file
        }
    }
}
