import AppleModels

@testable import PersistentPreferences

/// The preferences that the tests of the simulated store use, in one of its processes.
final class SimulatedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var volume = 0.5
    @Pref var name = "none"
    @Pref var recent: [Int] = []
    @Pref("screen.width") var width = 100

    convenience init(_ process: ModelDefaults, _ layout: DomainLayout = .roots, key: String = "Root") {
        self.init(key: key, store: UserDefaultsStore(process, layout: layout))
    }
}
