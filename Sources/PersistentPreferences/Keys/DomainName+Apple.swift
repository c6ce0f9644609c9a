#if canImport(Darwin)
    import Foundation

    extension UserDefaults {
        /// nil, because Apple platforms do not tell the name of a domain.
        var domainName: String? { nil }
    }
#endif
