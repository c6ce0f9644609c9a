#if canImport(Darwin)
    import Foundation

    extension UserDefaults {
        /// nil: unknown.
        var domainName: String? { nil }
    }
#endif
