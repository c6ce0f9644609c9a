import Foundation

import TestSupport
import Testing

@testable import PersistentPreferences

private final class PortPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var port = 80
    @Pref var host = "localhost"
    let failures = Failures()
    override func prefsDidFail(_ error: PrefsError) { failures.add("\(error)") }
}

/// A base that cannot be read hides neither the layers above nor their faults.
@Suite struct LayersOverDamageTests {
    @Test func aBadVariableOverADamagedFileIsReportedToo() throws {
        let folder = try TemporaryFolder()
        let file = PropertyListFileStore(url: folder.file(), durability: .process)
        try file.update(root: "PortPrefs") { $0 = ["port": 8080] }
        try Data("hello".utf8).write(to: folder.file())
        let layers = [PrefsLayer.environment(prefix: "APP_", in: ["APP_port": "many", "APP_host": "example.org"])]
        let prefs = PortPrefs(store: LayeredStore(file, above: layers))
        #expect(prefs.port == 8080 && prefs.host == "example.org")
        let reported = prefs.failures.all
        #expect(
            reported.contains { $0.contains("APP_port") } && reported.contains { $0.contains("test.plist") },
            "\(reported)")
    }

    @Test func aCoveredKeyNamesItsLayerWhateverIsStored() throws {
        let root = InMemoryStore()
        try root.update(root: "PortPrefs") { $0 = ["port": "x"] }
        let layers = [PrefsLayer.environment(prefix: "APP_", in: ["APP_port": "1"])]
        let prefs = PortPrefs(store: LayeredStore(root, above: layers))
        #expect(prefs.port == 1 && prefs.$port.source == .layer("environment"))
    }
}
