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

    @Test func aDamagedLayerOverADamagedBaseIsReportedToo() throws {
        let folder = try TemporaryFolder()
        let file = PropertyListFileStore(url: folder.file(), durability: .process)
        try file.update(root: "PortPrefs") { $0 = ["port": 8080] }
        for name in ["test.plist", "layer.json"] { try Data("hello".utf8).write(to: folder.file(name)) }
        let prefs = PortPrefs(store: LayeredStore(file, above: [.file(folder.file("layer.json"))]))
        #expect(prefs.port == 8080)
        let reported = prefs.failures.all
        for name in ["test.plist", "layer.json"] { #expect(reported.contains { $0.contains(name) }, "\(reported)") }
    }

    @Test func aKeyThatCannotBeHashedInLinearTimeIsAFault() {
        let key = "a" + String(repeating: "\u{301}", count: 40)
        let prefs = PortPrefs(store: LayeredStore(InMemoryStore(), below: [.values([key: 1, "port": 2])]))
        #expect(prefs.lastError?.layerFaults.count == 1 && prefs.port == 2)
    }

    @Test func aLayerThatCannotBeWatchedIsReported() throws {
        let folder = try TemporaryFolder()
        #expect(symlink("layer.plist", folder.file("layer.plist").path) == 0)
        let layer = PrefsLayer.file(folder.file("layer.plist"))
        let prefs = PortPrefs(store: LayeredStore(InMemoryStore(), below: [layer]))
        let observation = prefs.onChange { _ in }
        defer { observation.cancel() }
        guard case .notWatched(let failure)? = prefs.lastError else {
            Issue.record("\(String(describing: prefs.lastError))")
            return
        }
        #expect(failure.path.hasSuffix("layer.plist"))
    }
}
