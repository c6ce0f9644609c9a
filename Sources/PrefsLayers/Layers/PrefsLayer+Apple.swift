#if canImport(Darwin)
    import Foundation
    import PersistentPreferences
    import PrefsDefaultsDomain

    extension PrefsLayer {
        /// The managed values of a domain of `UserDefaults`: values that an administrator forces
        /// (`objectIsForced(forKey:)`).
        ///
        /// Their keys are the keys of the properties. The next access reads a change; observers do not receive it.
        /// - Parameter suiteName: the name of the suite, as for ``PrefsStore/userDefaults(suite:layout:)``; nil stands for the standard
        ///   domain.
        public static func managed(suiteName: String? = nil) -> PrefsLayer {
            do {
                if let suiteName { try NameVetting.checkSuite(suiteName) }
                let system = try UserDefaultsDomain.system(suiteName)
                return managed { system.isForced($0) ? system.object(forKey: $0) : nil }
            } catch {
                return PrefsLayer(name: "managed", broken: "\(error)")
            }
        }
    }
#endif
