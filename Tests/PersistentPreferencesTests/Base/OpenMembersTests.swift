import PersistentPreferences
import Testing

/// The members that users of the source file of RVS_PersistentPrefs may override.
@Suite struct OpenMembersTests {
    private final class OverridingPrefs: PersistentPrefs, @unchecked Sendable {
        nonisolated(unsafe) var calls: [String] = []
        override var keys: [String] { ["a"] }
        override var values: [String: Any] {
            get { super.values.merging(["b": 1]) { $1 } }
            set {
                calls.append("values")
                super.values = newValue.filter { $0.key != "b" }
            }
        }
        override subscript(key: String) -> Any? {
            get { key == "b" ? 1 : super[key] }
            set {
                calls.append("subscript")
                super[key] = newValue
            }
        }
        override func flush() {
            calls.append("flush")
            super.flush()
        }
        override func clear() {
            calls.append("clear")
            super.clear()
        }
        override func deleteAll() {
            calls.append("deleteAll")
            super.deleteAll()
        }
    }

    @Test func overridesAreCalled() {
        let prefs: PersistentPrefs = OverridingPrefs(store: InMemoryStore())
        prefs["a"] = 1
        prefs.values["a"] = 2
        #expect(prefs.values["a"] as? Int == 2 && prefs["b"] as? Int == 1 && prefs.lastError == nil)
        prefs.flush()
        prefs.clear()
        prefs.deleteAll()
        #expect((prefs as? OverridingPrefs)?.calls == ["subscript", "values", "flush", "clear", "deleteAll"])
    }
}
