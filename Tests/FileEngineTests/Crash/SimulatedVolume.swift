import Foundation

/// A file system as a value: the state that programs see, and the part of it that survives a power cut.
///
/// By the rules of POSIX, `fsync` of a file saves its bytes, and `fsync` of a folder saves its entries. Of the changes
/// that were not flushed, any part may be on the medium, in any order.
struct SimulatedVolume: Sendable {
    typealias Inode = Int

    struct Node: Sendable {
        enum Kind: Sendable { case file, folder }

        let kind: Kind
        var mode: mode_t
        var owner = geteuid()
        var group = getegid()
        var stamp = 0
        /// The time of the last change of the bytes.
        var writeStamp = 0
        var bytes: [UInt8] = []
        var entries: [String: Inode] = [:]

        /// The bytes that are certainly on the medium, and the writes that may be there.
        var savedBytes: [UInt8] = []
        var pendingWrites: [Write] = []
        var savedEntries: [String: Inode] = [:]
        var pendingChanges: [EntryChange] = []
    }

    struct Write: Sendable {
        let offset: Int
        let bytes: [UInt8]
        /// Whether the file ends with these bytes.
        var isEnd = false
    }

    enum EntryChange: Sendable {
        case set(String, Inode)
        case remove(String)
        /// A rename may have happened on the medium although the old name is still there.
        case rename(String, to: String, Inode)
    }

    static let root: Inode = 1
    private(set) var nodes: [Inode: Node] = [root: Node(kind: .folder, mode: 0o755)]
    private var lastInode = root
    /// The number of changes and flushes, which is also the time in the stamps of files.
    private(set) var clock = 0

    subscript(inode: Inode) -> Node {
        get { nodes[inode] ?? Node(kind: .file, mode: 0) }
        set { nodes[inode] = newValue }
    }

    // MARK: - What programs do

    mutating func create(_ kind: Node.Kind, _ name: String, in folder: Inode, mode: mode_t) -> Inode {
        lastInode += 1
        nodes[lastInode] = Node(kind: kind, mode: mode)
        change(folder, .set(name, lastInode))
        touch(lastInode)
        return lastInode
    }

    mutating func change(_ folder: Inode, _ change: EntryChange) {
        self[folder].pendingChanges.append(change)
        Self.apply(change, to: &self[folder].entries, keepsOldName: false)
        touch(folder)
    }

    mutating func truncate(_ file: Inode, to size: Int) {
        write([], to: file, at: size, isEnd: true)
    }

    mutating func write(_ bytes: [UInt8], to file: Inode, at offset: Int, isEnd: Bool = false) {
        let write = Write(offset: offset, bytes: bytes, isEnd: isEnd)
        self[file].pendingWrites.append(write)
        Self.apply(write, to: &self[file].bytes)
        touch(file)
        self[file].writeStamp = clock
    }

    mutating func flush(_ inode: Inode) {
        clock += 1
        self[inode].pendingWrites.forEach { Self.apply($0, to: &self[inode].savedBytes) }
        self[inode].pendingWrites = []
        (self[inode].savedEntries, self[inode].pendingChanges) = (self[inode].entries, [])
    }

    /// Makes a flush fail. The bytes count as written, and no later flush restores them. (Names are kept, because a
    /// file system that cannot write names stops completely.)
    mutating func failFlush(_ inode: Inode) {
        clock += 1
        self[inode].pendingWrites = []
    }

    mutating func touch(_ inode: Inode) {
        clock += 1
        self[inode].stamp = clock
    }

    /// Puts everything on the medium, also bytes whose flush has failed.
    mutating func flushAll() {
        for inode in nodes.keys {
            flush(inode)
            self[inode].savedBytes = self[inode].bytes
        }
    }

    static func apply(_ write: Write, to bytes: inout [UInt8]) {
        let end = write.offset + write.bytes.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(write.offset..<end, with: write.bytes)
        if write.isEnd { bytes.removeSubrange(end...) }
    }

    static func apply(_ change: EntryChange, to entries: inout [String: Inode], keepsOldName: Bool) {
        switch change {
        case .set(let name, let inode): entries[name] = inode
        case .remove(let name): entries[name] = nil
        case .rename(let old, let new, let inode):
            if !keepsOldName { entries[old] = nil }
            entries[new] = inode
        }
    }

    // MARK: - Looking

    /// The inode that a path leads to; nil if it is missing.
    func inode(at path: String, from folder: Inode = root) -> Inode? {
        var here = path.hasPrefix("/") ? Self.root : folder
        for name in path.split(separator: "/") {
            guard let next = self[here].entries[String(name)] else { return nil }
            here = next
        }
        return here
    }

    /// Every path with its contents. Volumes that programs cannot distinguish have equal listings.
    func listing(of folder: Inode = root, at path: String = "") -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for (name, inode) in self[folder].entries {
            found["\(path)/\(name)"] = self[inode].bytes
            if self[inode].kind == .folder { found.merge(listing(of: inode, at: "\(path)/\(name)")) { $1 } }
        }
        return found
    }

    func links(to inode: Inode) -> Int {
        nodes.values.reduce(0) { $0 + $1.entries.values.filter { $0 == inode }.count }
    }
}
