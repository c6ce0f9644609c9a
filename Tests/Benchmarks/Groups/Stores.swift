import Foundation
import PersistentPreferences

extension Place {
    /// A store with its own file.
    func store(_ name: String, _ durability: PropertyListFileStore.Durability = .powerCut) throws
        -> PropertyListFileStore
    {
        PropertyListFileStore(url: try file(name), durability: durability)
    }

    /// A domain of `UserDefaults` in the home of the run.
    func defaults(_ suite: String) throws -> UserDefaults {
        guard let defaults = UserDefaults(suiteName: suite) else { throw Unavailable("no UserDefaults of \(suite)") }
        return defaults
    }
}
