#if os(Linux) || os(Android)
    import Foundation
    import PrefsFileEngine

    /// What a write does to the permissions of a new file, tried on a file without a name.
    enum WriteTrial {
        /// Why a write of a file would be rejected; nil if nothing was found, and if the file system has no files without
        /// a name.
        ///
        /// - Parameter path: the physical path of a file that exists.
        static func failure(ofFileAt path: String) -> String? {
            let (system, names) = (SystemCalls.real, FileNames(path: path))
            guard let (file, status) = try? system.openFile(names),
                let folder = try? OpenFile(system.openFolder(names.folder), system)
            else { return nil }
            // The system headers spell this constant in a way that Swift does not import.
            let unnamed = 0o20_000_000 | O_DIRECTORY
            do {
                let new = OpenFile(
                    try system.openRetrying(".", in: folder.descriptor, O_RDWR | unnamed, mode: 0o600), system)
                try Permissions.all(of: file, status).apply(
                    to: new.descriptor, system.status(of: new.descriptor), system)
                return nil
            } catch  where [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(error.code) && error.operation == "open" {
                return nil
            } catch {
                return error.at(names.path).description
            }
        }
    }
#endif
