#if canImport(Darwin)
    import Foundation
    import PrefsPropertyLists

    /// Where programs keep their settings on Apple platforms: Application Support, of the app where it is sandboxed.
    package enum ConfigurationFolder {
        package static let path: Result<String, StorageFailure> = {
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            guard let folder = folders.first else {
                return .failure(StorageFailure(path: "", reason: "no Application Support folder"))
            }
            return .success(folder.path(percentEncoded: false))
        }()

        /// The bundle identifier, else the name of the process.
        package static let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }
#endif
