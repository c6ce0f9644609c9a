#if canImport(Darwin)
    package import Foundation

    extension UserDefaults {
        /// nil, because Apple platforms do not tell the name of a domain.
        package var domainName: String? { nil }
    }
#endif
