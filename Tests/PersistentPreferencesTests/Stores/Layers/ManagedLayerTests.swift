import AppleModels
import Foundation
import Testing

@testable import PersistentPreferences

/// Values that an administrator forces, over the model of `UserDefaults`.
@Suite struct ManagedLayerTests {
    @Test func managedValuesWinAndAreChecked() {
        let process = ModelDaemon(isAutomatic: true).process()
        let prefs = LayerPrefs(store: LayeredStore(UserDefaultsStore(process), above: [.managed(process)]))
        prefs.size = 30
        prefs.ratio = 1.5
        process.registered = ["name": "registered"]
        process.managed = ["size": 20, "ratio": "x", "tags": ["m"]]
        #expect((prefs.size, prefs.name, prefs.tags) == (20, "none", ["m"]), "registered values are not forced")
        #expect(prefs.$size.source == .layer("managed"))
        #expect(prefs.ratio == 1.5)
        #expect(
            prefs.lastError
                == .invalidLayer([
                    LayerFault(layer: "managed", place: "ratio", reason: "expected Double, found a string")
                ]))
        prefs.size = 40
        #expect(prefs.lastError == .coveredByLayer([CoveredKey(key: "size", layer: "managed", place: "size")]))
        process.managed = [:]
        #expect(prefs.size == 30, "a change is read by the next access")
        prefs.size = 40
        #expect(prefs.size == 40)
    }
}
