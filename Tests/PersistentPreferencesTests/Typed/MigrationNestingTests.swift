@testable import PrefsSupport
import PersistentPreferences
import Testing

/// A class without migrations on the root of `NestingPrefs`.
private final class SidePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var side = 0
    @Pref var number = 0
}

/// A class whose step writes to the root, which a step should not do.
private final class NestingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
    @Pref var side = 0

    @TaskLocal static var place: Place?

    /// The store that the step writes to, and the number of its writes.
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
    /// The commit of a migration, whose values are older, does not undo a write that a step has made in another way.
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
