#if canImport(Darwin)
    import Foundation
    import PrefsPropertyLists

    /// The extended attributes of files. Throws if one would be lost.
    enum ExtendedAttributes {
        /// False: on Apple platforms, an access control list does not change what the mode means.
        static func hasAccessControlList(_ descriptor: Int32) throws(StorageFailure) -> Bool { false }

        /// Does not use `COPYFILE_ACL`, which keeps the inherited entries of the new file and omits the entries of the
        /// old one.
        static func copy(from old: Int32?, to new: Int32) throws(StorageFailure) {
            let list = old.flatMap { acl_get_fd_np($0, ACL_TYPE_EXTENDED) } ?? acl_init(1)
            guard let list else { throw failure("access control list") }
            defer { acl_free(UnsafeMutableRawPointer(list)) }
            // A volume without access control lists returns ENOTSUP.
            if acl_set_fd_np(new, list, ACL_TYPE_EXTENDED) != 0, errno != ENOTSUP {
                throw failure("access control list")
            }
            guard let old, fcopyfile(old, new, nil, copyfile_flags_t(COPYFILE_XATTR)) != 0 else { return }
            throw failure("extended attributes")
        }

        private static func failure(_ what: String) -> StorageFailure {
            StorageFailure(path: "", reason: "its \(what) cannot be kept: \(String(cString: strerror(errno)))")
        }
    }
#endif
