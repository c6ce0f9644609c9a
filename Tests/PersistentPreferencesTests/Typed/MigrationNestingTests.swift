@testable import PrefsSupport
import PersistentPreferences
import TestSupport
import Testing

/// The same root, as a program without migrations has it.
private final class SidePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var side = 0
    @Pref var number = 0
}

/// Its step writes to the root itself, as none should.
private final class NestingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
    @Pref var side = 0

    @TaskLocal static var place: Place?

    /// Where the step writes, and how often it has.
    final class Place: @unchecked Sendable {
        let store = InMemoryStore()
        var runs = 0
    }

    override class var migrations: [PrefsMigration] {
        [
            PrefsMigration(to: 1) { values in
                guard let place else { return }
                place.runs += 1
                SidePrefs(key: "Root", store: place.store).side += 1
                values["number"] = 7
            }
        ]
    }
}

@Suite struct MigrationNestingTests {
    /// What a step writes by another way is not undone by the commit of the migration, whose values are older.
    @Test func aWriteOfAStepStays() {
        let place = NestingPrefs.Place()
        let others = SidePrefs(key: "Root", store: place.store)
        others.number = 1
        NestingPrefs.$place.withValue(place) {
            let prefs = NestingPrefs(key: "Root", store: place.store)
            prefs["number"] = 9
            #expect(prefs.outcome == "ok")
            #expect(place.runs > 1 && others.side == place.runs)
            #expect(prefs.number == 9 && prefs.side == place.runs && others.number == 9)
        }
    }
}
