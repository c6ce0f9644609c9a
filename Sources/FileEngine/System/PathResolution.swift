import Foundation

/// The physical path of a file: all links are followed, whether or not the file exists.
///
/// A link is followed only if root or the caller owns it, or if its owner also owns the target and so has access
/// without this process. If the target does not exist yet, the owner of the nearest existing folder above it counts
/// instead.
package struct PathResolution {
    /// Absolute, without links and without empty parts.
    package let target: String
    /// The physical paths of the links that were followed, including links to folders. If there are any, the path may
    /// have another target later.
    package let links: [String]

    /// - Parameter path: absolute.
    package init(_ path: String, system: SystemCalls) throws(StorageFailure) {
        guard !["", ".", ".."].contains(FileNames(path: path).file) else {
            throw StorageFailure(path: path, reason: "does not name a file")
        }
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw StorageFailure(path: path, reason: "is relative, and the working folder is unknown")
        }
        var walk = Walk(path, system)
        while try walk.takeStep() {}
        target = walk.place
        links = walk.links
    }

    /// Compares bytes, because a slash and a combining mark after it are one Character.
    static func parts(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).compactMap { String($0) }.filter { $0 != "." }
    }

    /// Resolves a path, one part at a time.
    private struct Walk {
        private let system: SystemCalls
        private let path: String
        private var rest: ArraySlice<String>
        /// The physical path so far: no part of it was a link when it was resolved.
        private(set) var place = "/"
        private(set) var links: [String] = []
        /// The owner of the place, or of the nearest existing folder above it.
        private var owner: UInt32 = 0
        /// The links of other users whose targets are not reached yet, and the number of parts that will be left at the
        /// target.
        private var foreign: [(path: String, owner: UInt32, rest: Int)] = []

        init(_ path: String, _ system: SystemCalls) {
            self.system = system
            self.path = path
            rest = parts(of: path)[...]
        }

        mutating func takeStep() throws(StorageFailure) -> Bool {
            guard let name = rest.popFirst() else { return false }
            let next = name == ".." ? FileNames(path: place).folder : FileNames.join(place, name)
            if let status = try look(at: next) {
                if status.kind == .link {
                    try follow(next)
                } else {
                    (place, owner) = (next, status.owner)
                }
            } else {
                place = next
            }
            while let link = foreign.last, rest.count <= link.rest {
                guard link.owner == owner else {
                    throw StorageFailure(
                        path: link.path,
                        reason: "is a link of user \(link.owner), who does not own the target; it is not followed"
                    )
                }
                foreign.removeLast()
            }
            return true
        }

        private func look(at place: String) throws(StorageFailure) -> FileStatus? {
            do {
                return try system.status(ofPath: place, followsLinks: false)
            } catch  where error.code == EPERM {
                // A sandbox may hide the folders above its own. If one of them is a link, opening the target fails.
                return nil
            }
        }

        /// The target and the owner of one link. Repeats the calls if another link replaces it in between.
        private func read(_ link: String) throws(StorageFailure) -> (target: String, owner: UInt32) {
            do throws(StorageFailure) {
                for _ in Attempts.all {
                    let read = try system.withFolder(of: FileNames(path: link)) {
                        folder, name throws(StorageFailure) -> (target: String, owner: UInt32)? in
                        let before = try system.status(ofPath: name, in: folder, followsLinks: false)
                        guard let before, before.kind == .link else { return nil }
                        let target = try system.linkTarget(name, in: folder)
                        let isSame = try system.status(ofPath: name, in: folder, followsLinks: false) == before
                        return isSame ? (target, before.owner) : nil
                    }
                    if let read { return read }
                }
                throw StorageFailure(path: "", reason: "was changed during every attempt")
            } catch {
                throw error.at(link)
            }
        }

        private mutating func follow(_ link: String) throws(StorageFailure) {
            // The limit of the system.
            guard links.count < 40 else { throw StorageFailure("open", path, code: ELOOP) }
            let (target, linkOwner) = try read(link)
            links.append(link)
            if linkOwner != 0, linkOwner != geteuid() { foreign.append((link, linkOwner, rest.count)) }
            if target.utf8.first == UInt8(ascii: "/") { (place, owner) = ("/", 0) }
            rest = (parts(of: target) + rest)[...]
        }
    }
}
