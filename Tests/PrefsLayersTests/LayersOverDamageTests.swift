@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

private final class PortPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var port = 80
    @Pref var host = "localhost"
}

/// A base that cannot be read hides neither the layers above nor their faults.
@Suite struct LayersOverDamageTests {
    private let folder = TemporaryFolder.fresh
    private var file: PrefsStore { .propertyList(url: folder.file(), durability: .crash) }

    @Test func faultsOfLayersOverADamagedBaseAreReportedToo() throws {
        try file.update(root: "PortPrefs") { $0 = ["port": 8080] }
        for name in ["test.plist", "layer.json"] { try Data("hello".utf8).write(to: folder.file(name)) }
        let variables = PrefsLayer.environment(prefix: "APP_", in: ["APP_port": "many", "APP_host": "example.org"])
        let prefs = PortPrefs(store: .layered(file, above: [variables, .file(folder.file("layer.json"))]))
        #expect(prefs.port == 8080 && prefs.host == "example.org")
        let reported = prefs.errors
        for name in ["test.plist", "layer.json", "APP_port"] {
            #expect(reported.contains { $0.contains(name) }, "\(reported)")
        }
    }

    /// A file as a whole, an entry, and the stored value, at one read.
    @Test func oneReadReportsAllItsFaults() throws {
        let root = PrefsStore.memory()
        let layers = [
            PrefsLayer.environment(prefix: "APP_", in: ["APP_port": "many"]), .file(folder.file("layer.json")),
        ]
        try Data("hello".utf8).write(to: folder.file("layer.json"))
        let prefs = PortPrefs(store: .layered(root, above: layers, below: [.values(["port": 1])]))
        #expect(prefs.port == 1)
        let places = prefs.lastError?.layerFaults.map(\.path)
        #expect(places?.sorted() == [folder.file("layer.json").path, "APP_port"].sorted())
        let layer = folder.file("other.json")
        try Data(#"{"Other": {}}"#.utf8).write(to: layer)
        let others = PortPrefs(
            key: "Other", store: .layered(root, above: [.file(layer)], below: [.values(["port": 1])]))
        // Hears the two by the read, or by a look that was first and may still be telling.
        let heard = others.errorObserver()
        try root.update(root: "Other") { $0 = ["port": "x"] }
        try Data(#"{"Other": {"port": "y"}}"#.utf8).write(to: layer, options: .atomic)
        #expect(others.port == 1 && others.errors.count == 2, "\(others.errors)")
        #expect(heard.wait(for: 2).sorted() == others.errors.sorted())
    }

    /// A rejected write tells of the layer, too.
    @Test func aRejectedWriteReportsAllThatItMeets() throws {
        let layer = folder.file("layer.json")
        try Data("hello".utf8).write(to: layer)
        let base = folder.file()
        try FileManager.default.createDirectory(at: base, withIntermediateDirectories: false)
        let prefs = PortPrefs(store: .layered(file, above: [.file(layer)]))
        let before = prefs.errors.count
        #expect(prefs.$port.set(1) != nil)
        let told = prefs.errors.dropFirst(before)
        #expect(told.contains { $0.contains("layer.json") } && told.contains { $0.contains("is a folder") }, "\(told)")
    }

    @Test func aCoveredKeyNamesItsLayerWhateverIsStored() throws {
        let root = PrefsStore.memory()
        try root.update(root: "PortPrefs") { $0 = ["port": "x"] }
        let layers = [PrefsLayer.environment(prefix: "APP_", in: ["APP_port": "1"])]
        let prefs = PortPrefs(store: .layered(root, above: layers))
        #expect(prefs.port == 1 && prefs.$port.source == .layer("environment"))
    }

    enum Obstacle: CaseIterable { case folder, linkLoop, notADictionary }

    @Test(arguments: Obstacle.allCases)
    func aBaseThatCannotBeReadHidesNoLayer(_ obstacle: Obstacle) throws {
        let url = folder.file()
        switch obstacle {
        case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        case .linkLoop: #expect(symlink("test.plist", url.path) == 0)
        case .notADictionary: try writePropertyList(["PortPrefs": 5], to: url)
        }
        let prefs = PortPrefs(
            store: .layered(
                file, above: [.environment(prefix: "APP_", in: ["APP_port": "1"])], below: [.values(["host": "below"])])
        )
        let failure = try #require(prefs.lastError)
        #expect(!failure.isWarning && failure.layerFaults.isEmpty)
        for _ in 0..<2 {
            #expect(prefs.host == "below")
            #expect(prefs.lastError == failure, "each read tells of the base")
            #expect(prefs.port == 1)
            #expect(prefs.lastError == (obstacle == .notADictionary ? nil : failure))
            #expect(prefs.values as NSDictionary == ["port": 1, "host": "below"])
            #expect(prefs.lastError == failure)
            #expect(prefs["host"] as? String == "below")
            #expect(prefs.$port.source == .layer("environment") && prefs.$host.source == .layer("values"))
            #expect(prefs.lastError == failure)
            #expect(prefs.describe().map(\.source) == [.layer("environment"), .layer("values")])
        }
        #expect(prefs.errors.allSatisfy { $0 == "\(failure)" })
        #expect(prefs.$host.set("x") == failure, "nothing is written over it")
        prefs.host += "x"
        #expect(prefs.lastError == failure)
        prefs.values["host"] = "x"
        #expect(prefs.lastError == failure)
        #expect(!prefs.$host.isStored)
        #expect(prefs.lastError == failure)
        #expect(prefs.resetAll() == failure)
        #expect(prefs.deleteRoot() == (obstacle == .notADictionary ? nil : failure))
    }

    @Test func aBaseThatCanBeReadAgainIsRead() throws {
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: false)
        let prefs = PortPrefs(store: .layered(file, below: [.values(["host": "below"])]))
        #expect(prefs.host == "below")
        try FileManager.default.removeItem(at: folder.file())
        #expect(prefs.$host.set("stored") == nil)
        #expect(prefs.host == "stored" && prefs.lastError == nil)
    }

    /// Without an access.
    @Test func observersAreToldOfABaseThatCannotBeRead() throws {
        let prefs = PortPrefs(store: .layered(file, below: [.values(["host": "below"])]))
        prefs.port = 1
        let errors = prefs.errorObserver()
        let observation = prefs.onChange { _ in }
        try Data("hello".utf8).write(to: folder.file(), options: .atomic)
        #expect(errors.wait(for: 1).map { $0.contains("test.plist") } == [true])
        observation.cancel()
    }

    @Test func aStoredValueOfTheWrongTypeStaysAndTheLayerBelowIsRead() throws {
        let base = PrefsStore.memory()
        try base.update(root: "PortPrefs") { $0 = ["port": "x", "host": 5] }
        let prefs = PortPrefs(store: .layered(base, below: [.values(["port": 1])]))
        for _ in 0..<2 {
            #expect(prefs.port == 1)
            #expect("\(try #require(prefs.lastError))".contains("port: expected Int, found a string"))
            #expect(prefs.host == "localhost")
            #expect("\(try #require(prefs.lastError))".contains("host: expected String, found an integer"))
        }
        #expect(prefs.$port.source == .layer("values") && prefs.$host.source == .default)
        #expect(prefs["port"] as? Int == 1)
        #expect(prefs.values as NSDictionary == ["port": 1, "host": 5])
        #expect(prefs.$port.isStored)
        prefs.port += 1
        #expect(prefs.lastError != nil, "a change in place does not replace it")
        prefs.values["host"] = "x"
        #expect(try base.read(root: "PortPrefs") as NSDictionary? == ["port": "x", "host": "x"])
        prefs.port = 2
        #expect(prefs.port == 2 && prefs.$port.source == .stored && prefs.lastError == nil)
        #expect(PortPrefs(store: base).$port.source == .stored)
    }

    @Test func aKeyThatCannotBeHashedInLinearTimeIsAFault() {
        let key = "a" + String(repeating: "\u{301}", count: 40)
        let prefs = PortPrefs(store: .layered(.memory(), below: [.values([key: 1, "port": 2])]))
        #expect(prefs.lastError?.layerFaults.count == 1 && prefs.port == 2)
    }

    @Test func aLayerThatCannotBeWatchedIsReported() throws {
        #expect(symlink("layer.plist", folder.file("layer.plist").path) == 0)
        let layer = PrefsLayer.file(folder.file("layer.plist"))
        let prefs = PortPrefs(store: .layered(.memory(), below: [layer]))
        let observation = prefs.onChange { _ in }
        defer { observation.cancel() }
        let failure = try #require(prefs.lastError?.detail(of: PrefsError.notWatched), "\(prefs.outcome)")
        #expect(failure.path.hasSuffix("layer.plist"))
    }
}
