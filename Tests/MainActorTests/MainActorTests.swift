import PersistentPreferences
import Testing

/// A subclass in a module whose default isolation is the main actor, as in today's app template.
final class ScreenPrefs: Prefs, @unchecked Sendable {
    override var keys: [String] { ["brightness"] }

    var brightness: Double {
        get { self["brightness"] as? Double ?? 0.5 }
        set { self["brightness"] = newValue }
    }
}

@Suite struct MainActorTests {
    @Test func aSubclassWorksOnAndOffTheMainActor() async {
        let store = InMemoryStore()
        let prefs = ScreenPrefs(store: store)
        prefs.brightness = 0.8
        await Task.detached { ScreenPrefs(store: store).brightness += 0.1 }.value
        #expect(abs(prefs.brightness - 0.9) < 1e-12)
    }
}
