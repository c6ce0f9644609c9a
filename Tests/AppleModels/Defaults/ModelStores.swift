package import PersistentPreferences
package import PrefsDefaultsDomain
package import PrefsLayers

extension PrefsStore {
    /// Creates a store over a model of `UserDefaults`.
    package static func userDefaults(_ system: any SystemDefaults, layout: DomainLayout = .roots) -> PrefsStore {
        PrefsStore(Roots(DefaultsDomain.of(system), layout: layout))
    }
}

extension PrefsLayer {
    /// The managed values of a model of `UserDefaults`.
    package static func managed(_ system: any SystemDefaults) -> PrefsLayer {
        managed { system.isForced($0) ? system.object(forKey: $0) : nil }
    }
}
