#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists

    /// The folder for settings on Linux. UserDefaults keeps its domains there, too.
    package enum ConfigurationFolder {
        /// `$XDG_CONFIG_HOME`, if absolute, or `$HOME/.config`, as they were when the process started: UserDefaults has
        /// seen no later change of them.
        package static let path: Result<String, StorageFailure> = {
            let environment = initialEnvironment()
            if let config = environment["XDG_CONFIG_HOME"], config.utf8.first == slash {
                return .success(normalized(config))
            }
            guard let home = environment["HOME"], !home.isEmpty else {
                // UserDefaults would write to /.config.
                return .failure(StorageFailure(path: "", reason: "no home folder: HOME is not set, or empty"))
            }
            guard home.utf8.first == slash else {
                return .failure(StorageFailure(path: home, reason: "HOME is not an absolute path"))
            }
            return .success(normalized(home + "/.config"))
        }()

        private static let slash = UInt8(ascii: "/")

        /// Without slashes in a row or at the end.
        private static func normalized(_ path: String) -> String {
            "/" + PathResolution.parts(of: path).joined(separator: "/")
        }

        /// The bundle identifier, else the name of the executable.
        package static let program: String = {
            if let identifier = Bundle.main.bundleIdentifier { return identifier }
            guard let path = try? SystemCalls.real.linkTarget("/proc/self/exe") else {
                return ProcessInfo.processInfo.processName
            }
            let name = FileNames(path: path).file
            // The kernel's mark on the name of a program that was replaced while it runs, by an upgrade say.
            let mark = " (deleted)"
            let isReplaced = name.hasSuffix(mark) && !FileManager.default.fileExists(atPath: path)
            return isReplaced ? String(name.dropLast(mark.count)) : name
        }()

        private static func initialEnvironment() -> [String: String] {
            guard let block = FileManager.default.contents(atPath: "/proc/self/environ"), !block.isEmpty else {
                return ProcessInfo.processInfo.environment
            }
            var environment: [String: String] = [:]
            for entry in block.split(separator: 0) {
                // An entry that is not UTF-8 would be another path after repair.
                guard String(validUTF8: entry) != nil else { continue }
                let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { continue }
                let name = String(decoding: parts[0], as: UTF8.self)
                // getenv returns the first of two entries with the same name.
                if environment[name] == nil { environment[name] = String(decoding: parts[1], as: UTF8.self) }
            }
            return environment
        }
    }
#endif
