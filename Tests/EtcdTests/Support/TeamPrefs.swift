import Foundation
import PersistentPreferences

class TeamPrefs: PersistentPrefs, @unchecked Sendable {
    struct Person: Codable, Equatable {
        var name: String
        var birthday: Date
    }

    @Pref(.in(-100...100_000)) var level = 3
    @Pref var name = ""
    @Pref var isPaused = false
    @Pref var owner: Person?
    @Pref var tags: Set<String> = []
    @Pref var blob = Data()
}
