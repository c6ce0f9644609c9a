import Foundation

/// A file system as a value: what programs see of it, and what of that a power cut cannot take any more.
///
/// The rules are those of POSIX, no kinder: `fsync` of a file saves its bytes, `fsync` of a folder its entries, and of
/// what was not flushed any part may be on the medium, in any order.
struct SimulatedVolume: Sendable {
    typealias Inode = Int

    struct Node: Sendable {
        enum Kind: Sendable { case file, folder, link }

        let kind: Kind
        var mode: mode_t
        var owner = geteuid()
        var group = getegid()
        var stamp = 0
        /// Of the last change of the bytes.
        var writeStamp = 0
        /// Of a file; of a link the path it leads to.
        var bytes: [UInt8] = []
        var entries: [String: Inode] = [:]

        /// What is on the medium for sure, and what may be there besides.
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
        /// The last may be done while the old name stays.
        case rename(String, to: String, Inode)
    }

    static let root: Inode = 1
    private(set) var nodes: [Inode: Node] = [root: Node(kind: .folder, mode: 0o755)]
    private var lastInode = root
    /// Counts changes and flushes, and is the time that files are stamped with.
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

    mutating func write(_ bytes: [UInt8], to file: Inode, at offset: Int) {
        let write = Write(offset: offset, bytes: bytes)
        self[file].pendingWrites.append(write)
        Self.apply(write, to: &self[file].bytes)
        touch(file)
        self[file].writeStamp = clock
    }

    mutating func truncate(_ file: Inode, to size: Int) {
        let write = Write(offset: size, bytes: [], isEnd: true)
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

    /// A flush that failed: the bytes that were to be written are taken for written, and no later flush brings them back.
    /// (Names are kept: a file system that cannot write those any more stops altogether.)
    mutating func failFlush(_ inode: Inode) {
        clock += 1
        self[inode].pendingWrites = []
    }

    mutating func touch(_ inode: Inode) {
        clock += 1
        self[inode].stamp = clock
    }

    /// Puts all there is on the medium, whatever became of it before.
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

    /// What a path leads to; nil where there is nothing.
    func inode(at path: String, from folder: Inode = root, followsLinks: Bool = true, depth: Int = 0) -> Inode? {
        var here = path.hasPrefix("/") ? Self.root : folder
        let names = path.split(separator: "/").map(String.init)
        for (index, name) in names.enumerated() {
            guard depth < 40, let next = self[here].entries[name] else { return nil }
            if self[next].kind == .link, followsLinks || index < names.count - 1 {
                let target = String(decoding: self[next].bytes, as: UTF8.self)
                guard let end = inode(at: target, from: here, depth: depth + 1) else { return nil }
                here = end
            } else {
                here = next
            }
        }
        return here
    }

    /// Every path and what is there, as a text: two volumes that programs cannot tell apart have the same.
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
