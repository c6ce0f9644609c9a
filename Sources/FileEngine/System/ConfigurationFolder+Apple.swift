#if canImport(Darwin)
    import Foundation
    import PrefsPropertyLists

    /// The folder for settings on Apple platforms: Application Support, in the container of a sandboxed app.
    package enum ConfigurationFolder {
        package static let path: Result<String, StorageFailure> = {
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            guard let folder = folders.first else {
                return .failure(StorageFailure(path: "", reason: "no Application Support folder"))
            }
            return .success(folder.path(percentEncoded: false))
        }()

        /// The bundle identifier or, without one, the name of the process.
        package static let program: Result<String, StorageFailure> = .success(
            Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
    }
#endif
