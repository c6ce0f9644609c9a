#if canImport(Darwin)
    import Foundation

    /// The UserDefaults domains of this user.
    enum DomainNames {
        /// The names of the files that the system has written, sorted. It may have more in memory.
        static func all() throws -> [String] {
            let folders = FileManager.default.urls(for: .libraryDirectory, in: .userDomainMask)
            guard let folder = folders.first?.appending(path: "Preferences") else { return [] }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
            return names.filter { !$0.hasPrefix(".") && $0.hasSuffix(".plist") }.map { String($0.dropLast(6)) }.sorted()
        }
    }
#endif
