#if os(Linux) || os(Android)
    package import Foundation

    extension UserDefaults {
        /// The name under which Foundation keeps the standard domain.
        package static let standardDomain = "kCFPreferencesCurrentApplication"

        /// The name of the domain that the object writes to; nil if it is unknown. Foundation keeps it in a private
        /// property.
        package var domainName: String? {
            let suite = Mirror(reflecting: self).children.first { $0.label == "suite" }?.value
            return (suite as? String?).map { $0 ?? Self.standardDomain }
        }
    }
#endif
