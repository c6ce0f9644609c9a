#if canImport(Darwin)
    import Foundation

    /// Where programs keep their settings on Apple platforms: Application Support, of the app where it is sandboxed.
    enum ConfigurationFolder {
        static let path: Result<String, StorageFailure> = {
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            guard let folder = folders.first else {
                return .failure(StorageFailure(path: "", reason: "no Application Support folder"))
            }
            return .success(folder.path(percentEncoded: false))
        }()

        /// The bundle identifier, else the name of the process.
        static let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }
#endif
