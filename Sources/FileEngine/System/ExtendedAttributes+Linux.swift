#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists

    /// The extended attributes of files. Throws if one would be lost.
    enum ExtendedAttributes {
        private static let accessControlList = "system.posix_acl_access"

        /// The attributes with hashes and signatures of the contents, which the kernel makes.
        private static let boundToContents: Set = ["security.ima", "security.evm"]

        static func copy(from old: Int32?, to new: Int32) throws(StorageFailure) {
            // A list that the file inherited from its folder grants nothing while the mode is 0600, because its mask is
            // then empty.
            guard let old else { return }
            let names = try attributeNames(of: old)
            // The new file may have inherited an access control list from its folder. The next chmod would put it in
            // force.
            if !names.contains(accessControlList), try attributeNames(of: new).contains(accessControlList) {
                try check(fremovexattr(new, accessControlList), accessControlList)
            }
            for name in names where !boundToContents.contains(name) {
                guard let value = try attribute(name, of: old), try attribute(name, of: new) != value else { continue }
                try check(fsetxattr(new, name, value, value.count, 0), name)
            }
        }

        /// Whether the file has an access control list. If so, the group bits of its mode are the mask of the list.
        static func hasAccessControlList(_ descriptor: Int32) throws(StorageFailure) -> Bool {
            try attributeNames(of: descriptor).contains(accessControlList)
        }

        /// The errors with which a server says that it has no attributes.
        private static let hasNone: Set = [EIO, ERANGE, EOPNOTSUPP, EPERM]

        private static func attributeNames(of descriptor: Int32) throws(StorageFailure) -> [String] {
            var names: [String] = []
            let list: [CChar]?
            do throws(StorageFailure) {
                list = try growing("") { flistxattr(descriptor, $0, $1) }
            } catch  where error.code == ENOSYS {
                // A kernel or a sandbox without attributes.
                return []
            } catch  where hasNone.contains(error.code) && FileSystem(of: descriptor).isOnServer {
                return []
            }
            for bytes in (list ?? []).split(separator: 0) {
                // Rejects a name that is not UTF-8, because a repaired name would belong to another attribute.
                guard let name = String(validUTF8: bytes.lazy.map(UInt8.init(bitPattern:))) else {
                    throw StorageFailure(path: "", reason: "has an extended attribute whose name is not UTF-8")
                }
                names.append(name)
            }
            return names
        }

        /// The value of an attribute; nil if it is missing.
        private static func attribute(_ name: String, of descriptor: Int32) throws(StorageFailure) -> [CChar]? {
            try growing(name) { fgetxattr(descriptor, name, $0, $1) }
        }

        /// The bytes that a call returns; nil if the attribute is missing. Without a buffer, the call returns the
        /// number of bytes.
        private static func growing(
            _ name: String, _ call: (UnsafeMutablePointer<CChar>?, Int) -> Int
        ) throws(StorageFailure) -> [CChar]? {
            for _ in Attempts.all {
                let size = call(nil, 0)
                if size == 0 { return [] }
                var code = errno
                if size > 0 {
                    var buffer = [CChar](repeating: 0, count: size)
                    let count = buffer.withUnsafeMutableBufferPointer { buffer in
                        let count = call(buffer.baseAddress, buffer.count)
                        code = errno
                        return count
                    }
                    if count >= 0 { return Array(buffer[..<count]) }
                }
                if code == ENODATA || code == ENOTSUP { return nil }
                // The attribute has grown in between.
                guard code == ERANGE else { throw failure(name, code) }
            }
            throw failure(name, ERANGE)
        }

        private static func check(_ result: Int32, _ name: String) throws(StorageFailure) {
            if result != 0 { throw failure(name, errno) }
        }

        private static func failure(_ name: String, _ code: Int32) -> StorageFailure {
            let reason = String(cString: strerror(code))
            let attribute = name.isEmpty ? "extended attributes" : "extended attribute \(name)"
            return StorageFailure(path: "", reason: "its \(attribute) cannot be kept: \(reason)", code: code)
        }
    }

    // The C library has these functions (sys/xattr.h), but its module does not declare them.
    @_silgen_name("flistxattr")
    private func flistxattr(_ descriptor: Int32, _ list: UnsafeMutablePointer<CChar>?, _ size: Int) -> Int

    @_silgen_name("fgetxattr")
    private func fgetxattr(
        _ descriptor: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeMutablePointer<CChar>?, _ size: Int
    ) -> Int

    @_silgen_name("fsetxattr")
    private func fsetxattr(
        _ descriptor: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>, _ size: Int, _ flags: Int32
    ) -> Int32

    @_silgen_name("fremovexattr")
    private func fremovexattr(_ descriptor: Int32, _ name: UnsafePointer<CChar>) -> Int32
#endif
