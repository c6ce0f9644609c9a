import PrefsPropertyLists

/// The one object of each file in this process, for as long as a store uses it.
final class FileRegistry: Sendable {
    static let shared = FileRegistry()

    /// Compares the bytes of the path, because two spellings of a letter name two files. Includes the system, because
    /// tests have several systems, and the kind of root, because two views of one file treat each other like two
    /// processes.
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
