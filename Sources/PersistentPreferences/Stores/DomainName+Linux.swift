#if os(Linux) || os(Android)
    package import Foundation

    extension UserDefaults {
        /// The name under which Foundation keeps the standard domain.
        package static let standardDomain = "kCFPreferencesCurrentApplication"

        /// The name of the domain that the object writes to; nil if it is unknown. Foundation keeps it in a private
        /// property.
        package var domainName: String? {
            var mirror: Mirror? = Mirror(reflecting: self)
            // The object may be of a subclass, which has properties of its own.
            while let current = mirror, current.subjectType != UserDefaults.self { mirror = current.superclassMirror }
            guard let suite = mirror?.children.first(where: { $0.label == "suite" })?.value else { return nil }
            return (suite as? String?).map { $0 ?? Self.standardDomain }
        }
    }
#endif
