import Foundation

/// Where a path really leads: links followed to the end, whether or not there is a file yet.
struct PathResolution {
    /// Absolute, without links.
    let target: String
    /// Whether a link was followed on the way, so that the path may lead elsewhere tomorrow.
    let followsLinks: Bool

    /// - Parameter path: absolute.
    init(_ path: String, system: SystemCalls) throws(StorageFailure) {
        var path = path
        var followsLinks = false
        // As many links as the system itself follows.
        for _ in 0..<40 {
            let names = FileNames(path: path)
            guard !names.file.isEmpty, names.file != ".", names.file != ".." else {
                throw StorageFailure(path: path, reason: "is no path of a file")
            }
            let folder = try Self.physicalFolder(names.folder, system)
            // By bytes: two spellings of a letter name two folders.
            if !folder.utf8.elementsEqual(names.folder.utf8) { followsLinks = true }
            let target = FileNames(path: folder == "/" ? "/\(names.file)" : "\(folder)/\(names.file)")
            guard try system.status(ofPath: target.path, followsLinks: false)?.kind == .link else {
                self.target = target.path
                self.followsLinks = followsLinks
                return
            }
            followsLinks = true
            let link = try system.linkTarget(target.path)
            path = link.utf8.first == UInt8(ascii: "/") ? link : target.path(of: link)
        }
        throw StorageFailure("open", path, code: ELOOP)
    }

    /// The links on the way, those of folders among them, by their physical paths. Ends where a path leads nowhere.
    ///
    /// - Parameter path: absolute.
    static func links(on path: String, system: SystemCalls) throws(StorageFailure) -> [String] {
        var names = parts(of: path)[...]
        var links: [String] = []
        var folder = "/"
        while let name = names.popFirst() {
            if name == ".." {
                folder = FileNames(path: folder).folder
                continue
            }
            let place = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            guard try system.status(ofPath: place, followsLinks: false)?.kind == .link, links.count < 40 else {
                folder = place
                continue
            }
            links.append(place)
            let target = try system.linkTarget(place)
            if target.utf8.first == UInt8(ascii: "/") { folder = "/" }
            names = (parts(of: target) + names)[...]
        }
        return links
    }

    /// By bytes, as in `FileNames`.
    private static func parts(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).compactMap { String($0) }.filter { $0 != "." }
    }

    /// The physical path of a folder; the part of it that does not exist yet stays as it is.
    private static func physicalFolder(_ path: String, _ system: SystemCalls) throws(StorageFailure) -> String {
        if let physical = try system.physicalPath(path) { return physical }
        let names = FileNames(path: path)
        guard names.folder != path else { return path }
        let folder = try physicalFolder(names.folder, system)
        return folder == "/" ? "/\(names.file)" : "\(folder)/\(names.file)"
    }
}
