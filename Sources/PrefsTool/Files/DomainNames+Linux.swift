#if os(Linux) || os(Android)
    import Foundation
    import PersistentPreferences
    import PrefsFileEngine

    /// The UserDefaults domains of this user.
    enum DomainNames {
        /// The names of their files in the configuration folder, sorted.
        static func all() throws -> [String] {
            let folder = try ConfigurationFolder.path.get()
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                if access(folder, F_OK) != 0 { return [] }
                throw CommandError("\(folder): cannot be listed")
            }
            let domains = names.filter { name in
                name.utf8.first != UInt8(ascii: ".") && name.utf8.suffix(6).elementsEqual(".plist".utf8)
                    && FileMetadata("\(folder)/\(name)")?.isFolder == false
            }
            return domains.map { String($0.unicodeScalars.dropLast(6)) }.sorted()
        }
    }
#endif
