@testable import PrefsSupport
import AppleModels
import Foundation
import PrefsStoreKit
import Testing
import TestSupport
import WriteOperations

@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsLayers

/// The order of layers, the effect of writes, and the state that an update sees.
@Suite struct LayeredStoreTests {
    private let base = PrefsStore.memory()

    private func prefs(above: [PrefsLayer] = [], below: [PrefsLayer] = []) -> LayerPrefs {
        LayerPrefs(store: .layered(base, above: above, below: below))
    }

    private func stored() throws -> [String: Any] { try base.read(root: "LayerPrefs") ?? [:] }

    @Test func theFirstLayerThatHasAValueWins() {
        let layers = (
            [PrefsLayer.arguments(["p", "-size", "20"]), .variables(["APP_size": "21", "APP_name": "environment"])],
            [
                PrefsLayer.values(["size": 22, "name": "x", "ratio": 2.5, "limit": 5]),
                .values(["ratio": 3.5, "isOn": true]),
            ]
        )
        let prefs = prefs(above: layers.0, below: layers.1)
        #expect((prefs.size, prefs.name, prefs.ratio, prefs.isOn) == (20, "environment", 2.5, true))
        #expect(prefs.$size.source == .layer("arguments"))
        #expect(prefs.$name.source == .layer("environment"))
        #expect(prefs.$ratio.source == .layer("values"))
        #expect(prefs.$tags.source == .default)
        prefs.ratio = 4.5
        #expect(prefs.ratio == 4.5)
        #expect(prefs.$ratio.source == .stored)
        prefs.$ratio.reset()
        #expect(prefs.ratio == 2.5, "the layer below again")
        #expect(
            prefs.values as NSDictionary
                == ["size": 20, "name": "environment", "ratio": 2.5, "isOn": true, "limit": 5] as NSDictionary)
        #expect(prefs.values.count == 5)
        #expect(prefs.lastError == nil)
    }

    @Test func effectiveValuesHaveTheValuesOfLayersAndDefaults() throws {
        let prefs = prefs(
            above: [.variables(["APP_size": "20", "APP_small": "x", "APP_plain": "p"])],
            below: [.values(["ratio": 2.5, "limit": 5, "small": 3, "server": ["port": 8]])])
        prefs.name = "stored"
        try base.update(root: "LayerPrefs") { $0?["isOn"] = "no Bool" }
        let expected: [String: Any] = [
            "size": 20, "name": "stored", "small": 3, "ratio": 2.5, "isOn": false, "theme": "light", "limit": 5,
            "tags": ["a"], "numbers": [Int](), "colors": [String](), "date": Date(timeIntervalSinceReferenceDate: 0),
            "server": ["host": "localhost", "port": 8], "servers": [Any](), "font.size": 9, "plain": "p",
        ]
        #expect(prefs.effectiveValues as NSDictionary == expected as NSDictionary)
        #expect(prefs.lastError != nil)
        for key in prefs.allowed.list {
            #expect(prefs.effectiveValue(of: key) as? NSObject == expected[key] as? NSObject, "\(key)")
        }
        #expect(prefs.effectiveValue(of: "size") is Int && prefs.lastError == nil)
        _ = prefs.effectiveValue(of: "small")
        #expect(prefs.lastError?.layerFaults.map(\.path) == ["APP_small"])
        _ = prefs.effectiveValue(of: "isOn")
        #expect(prefs.lastError.map { "\($0)" } == "isOn: expected Bool, found a string")
    }

    /// Values of layers are not stored, also where a root that is no dictionary is replaced.
    @Test func allValuesReplaceARootThatIsNoDictionary() throws {
        let folder = try TemporaryFolder()
        try writePropertyList(["LayerPrefs": [1], "Other": 2], to: folder.file())
        let layers = [PrefsLayer.values(["name": "below"])]
        let prefs = LayerPrefs(store: .layered(.propertyList(url: folder.file()), below: layers))
        prefs.size = 40
        #expect(prefs.lastError == .rootIsNotDictionary(key: "LayerPrefs"))
        prefs.values = ["size": 50, "name": "below"]
        #expect(prefs.lastError == nil && prefs.size == 50 && prefs.name == "below")
        #expect(try propertyList(at: folder.file()) as NSDictionary == ["LayerPrefs": ["size": 50], "Other": 2])
    }

    /// An observer that moves uses the layers of its new root.
    @Test func anObserverFollowsItsInstanceToTheLayersOfAnotherRoot() throws {
        let folder = try TemporaryFolder()
        try writePropertyList(["One": ["size": 10], "Two": ["size": 20]], to: folder.file())
        let prefs = LayerPrefs(key: "One", store: .layered(base, below: [.file(folder.file())]))
        let heard = prefs.observer(of: "size")
        prefs.key = "Two"
        prefs.size = 30
        #expect(heard.wait(for: 2) == ["Two size: 10 → 20", "Two size: 20 → 30"])
    }

    /// An assignment of the value of a layer above stores nothing, so it does not need the base.
    @Test func aWriteThatEqualsACoverNeedsNoBase() {
        let store = PrefsStore.layered(.userDefaults(suite: "a/b"), above: [.values(["size": 20])])
        let prefs = LayerPrefs(store: store)
        #expect(prefs.$size.set(20) == nil && prefs.size == 20)
        #expect(prefs.$size.set(21)?.coveredKeys.map(\.topLevelKey) == ["size"])
    }

    /// The others empty the base alone.
    private static let operations = WriteOperation.of(.property, .instance).filter { $0.effect != .empties }

    /// Layers that set the size to 20, by the place of the value in them.
    private static let covers: KeyValuePairs<String, @Sendable () -> PrefsLayer> = [
        "APP_size": { .variables(["APP_size": "20"]) },
        "size": {
            let process = ModelDaemon(isAutomatic: true).process()
            process.managed = ["size": 20]
            return .managed(process)
        },
    ]

    @Test(arguments: covers.map(\.key), operations)
    func aWriteToACoveredKeyIsRejected(_ place: String, _ operation: WriteOperation) async throws {
        let layer = try #require(Self.covers.first { $0.key == place }).value()
        let prefs = prefs(above: [layer])
        LayerPrefs(store: base).size = 9
        let before = try stored() as NSDictionary
        let target = WriteTarget(
            prefs, \.size, \.$size, to: 30, with: ["name": "x"],
            create: { [base] in LayerPrefs(values: $0, store: .layered(base, above: [layer])) })
        let error = await target.perform(operation)
        let expected = PrefsError.coveredByLayer([PrefsProblem(covered: "size", by: layer.name, place: place)])
        #expect(error == expected && (operation == .initializer || prefs.lastError == expected))
        #expect(!expected.isWarning)
        #expect(try stored() as NSDictionary == before, "nothing has changed")
        #expect(prefs.size == 20)
        #expect(prefs.name == "none")
    }

    @Test func theValueOfALayerAboveMayBeWritten() throws {
        let prefs = prefs(above: [.variables(["APP_size": "20"])])
        prefs.size = 20
        #expect(prefs.lastError == nil)
        prefs.values = ["size": 20, "name": "x"]
        #expect(prefs.lastError == nil)
        prefs.values = prefs.values
        #expect(prefs.lastError == nil)
        #expect(try stored() as NSDictionary == ["name": "x"], "it is not stored")
        LayerPrefs(store: base).size = 9
        prefs.size = 9
        #expect(
            prefs.lastError?.coveredKeys.map(\.topLevelKey) == ["size"], "the stored value is not the one that is read")
    }

    @Test func theValueOfALayerBelowIsStoredByAnAssignmentToItsKey() throws {
        let prefs = prefs(below: [.values(["size": 20])])
        prefs.values = prefs.values
        #expect(try stored().isEmpty)
        prefs.update { $0["size"] = 20 }
        #expect(try stored().isEmpty)
        prefs.size = 20
        #expect(try stored() as NSDictionary == ["size": 20])
        #expect(prefs.$size.source == .stored)
        prefs.$size.reset()
        prefs["size"] = 20
        #expect(try stored() as NSDictionary == ["size": 20])
        prefs.values = [:]
        #expect(prefs.size == 20)
        #expect(prefs.$size.source == .layer("values"), "a removed key shows the layer below again")
    }

    /// What a layer above hides is no change.
    @Test func anObserverOfTheStoreHearsOfWhatIsVisible() throws {
        let base = PrefsStore.memory()
        let layered = PrefsStore.layered(base, above: [.values(["a": 1])], below: [.values(["b": 2])])
        let heard = try Observer<String> { tell in try layered.observe(root: "R") { tell($0.text) } }
        try base.update(root: "R") { $0 = ["a": 5] }
        try base.update(root: "R") { $0 = ["a": 6, "b": 2] }
        try base.update(root: "R") { $0 = ["a": 7, "b": 3] }
        #expect(heard.wait(for: 1) == ["R b: 2 → 3"])
    }

    @Test func isStoredAndIsDefaultTellOfTheBaseAndOfTheValue() {
        let prefs = prefs(above: [.variables(["APP_size": "20"])], below: [.values(["name": "none", "ratio": 2.5])])
        #expect(!prefs.$size.isStored && !prefs.$name.isStored && !prefs.$ratio.isStored)
        #expect(!prefs.$size.isDefault && prefs.$name.isDefault && !prefs.$ratio.isDefault)
        LayerPrefs(store: base).size = 9
        #expect(prefs.$size.isStored, "a layer above hides it")
    }

    @Test func resetAllAndDeleteRootEmptyTheBaseAlone() throws {
        let prefs = prefs(above: [.variables(["APP_size": "20"])], below: [.values(["ratio": 2.5])])
        for empty in [{ prefs.resetAll() }, { prefs.deleteRoot() }] as [() -> PrefsError?] {
            LayerPrefs(store: base).values = ["size": 9, "name": "x", "ratio": 1.5]
            #expect(empty() == nil)
            #expect(prefs.lastError == nil)
            #expect(try base.read(root: "LayerPrefs") == nil)
            #expect((prefs.size, prefs.name, prefs.ratio) == (20, "none", 2.5))
        }
        prefs.reload()
        #expect(prefs.lastError == .noStoredPrefsForKey(key: "LayerPrefs"))
    }

    @Test func anExportLeavesLayersOut() throws {
        let prefs = prefs(above: [.variables(["APP_size": "20"])], below: [.values(["ratio": 2.5])])
        LayerPrefs(store: base).size = 9
        let data = try #require(prefs.exported(as: .json))
        #expect(String(decoding: data, as: UTF8.self) == "{\n  \"size\": 9\n}\n")
        #expect(prefs.values as NSDictionary == ["ratio": 2.5, "size": 20])
    }

    @Test func describeTellsSources() {
        let prefs = prefs(above: [.variables(["APP_size": "20", "APP_ratio": "x"])])
        prefs.name = "x"
        let sources = Dictionary(uniqueKeysWithValues: prefs.describe().map { ($0.key, $0.source) })
        #expect(sources["size"] == .layer("environment"))
        #expect(sources["name"] == .stored)
        #expect(sources["ratio"] == .default)
        #expect(prefs.describe().first.map { "\($0)" } == "size: Int = 12, in 8...72, set by environment")
        #expect(LayerPrefs.describe().first.map { "\($0)" } == "size: Int = 12, in 8...72")
        #expect(LayerPrefs.describe().first?.source == nil)
        #expect(LayerPrefs(store: base).describe()[1].source == .stored)
        #expect(prefs.source(ofKey: "other") == .default)
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["other"]), "the key is not allowed")
    }

    @Test func anUpdateSeesOneStateOfTheLayers() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("layer.json")
        try Data(#"{"LayerPrefs": {"size": 20, "ratio": 2.5}}"#.utf8).write(to: url)
        let prefs = LayerPrefs(
            store: .layered(.propertyList(url: folder.file()), above: [.file(url)]))
        let error = prefs.update {
            try? Data(#"{"LayerPrefs": {"size": 30}}"#.utf8).write(to: url, options: .atomic)
            #expect(prefs.size == 20)
            #expect(prefs.values as NSDictionary == ["size": 20, "ratio": 2.5] as NSDictionary)
            prefs.name = "x"
        }.failure
        #expect(error == nil)
        #expect((prefs.size, prefs.ratio, prefs.name) == (30, 0.5, "x"), "the new state after it")
    }

    @Test func aLayeredBaseHasItsLayersInside() {
        let inner = PrefsStore.layered(
            base, above: [.variables(["APP_size": "20", "APP_name": "inner"])], below: [.values(["ratio": 1.5])])
        let prefs = LayerPrefs(
            store: .layered(
                inner, above: [.arguments(["p", "-size", "21"])], below: [.values(["ratio": 2.5, "isOn": true])]))
        #expect((prefs.size, prefs.name, prefs.ratio, prefs.isOn) == (21, "inner", 1.5, true))
        prefs.theme = .dark
        #expect(LayerPrefs(store: base).theme == .dark)
    }

    @Test func aValueThatAPropertyListCannotHoldIsReported() {
        let prefs = prefs(below: [.values(["size": 20, "name": UUID()], name: "built-in")])
        #expect(prefs.size == 20)
        let fault = prefs.lastError?.layerFaults.first
        #expect(fault?.layer == "built-in")
        #expect(fault?.path == "name")
        #expect(prefs.name == "none")
    }

    @Test func overridesOfTheStoreKeepTheirValuesApart() {
        let plain = LayerPrefs(store: base)
        plain.size = 30
        let prefs = OverridablePrefs(key: "LayerPrefs")
        let layered = PrefsStore.layered(base, above: [.variables(["APP_size": "20"])])
        for _ in 0..<3 {
            #expect(PersistentPrefs.withStore(base) { prefs.size } == 30)
            #expect(PersistentPrefs.withStore(layered) { prefs.size } == 20)
        }
        #expect(plain.size == 30)
    }

    /// This also holds for a container, whose objects are cached for the next read.
    @Test func aSubscriptReportsTheLayersOfItsOwnKeyOnly() {
        let prefs = prefs(above: [.variables(["APP_size": "abc"])])
        for count in 1...2 {
            prefs.tags.append("b")
            #expect(prefs["tags"] as? [String] == ["a"] + Array(repeating: "b", count: count))
            #expect(prefs.lastError == nil)
        }
        #expect(prefs["size"] == nil && prefs.lastError?.isWarning == true)
    }

    // MARK: - The store without types

    /// The limit applies to the base, because layers are not stored.
    @Test func aLargeLayerLeavesTheBaseItsRoom() throws {
        let store = PrefsStore.layered(base, below: [.values(["large": Data(count: 3 << 20)])])
        try base.update(root: "A") { $0 = ["mine": Data(count: 1 << 20)] }
        try store.update(root: "A") { $0?["more"] = Data(count: 100 << 10) }
        #expect(try base.read(root: "A")?.keys.sorted() == ["mine", "more"])
        #expect(throws: PrefsError.self) { try store.update(root: "A") { $0?["more"] = Data(count: 3 << 20) } }
    }

    @Test(arguments: covers.map(\.key)) func theStoreItselfLeavesOutTextAndManagedValues(_ place: String) throws {
        let layer = try #require(Self.covers.first { $0.key == place }).value()
        let store = PrefsStore.layered(
            base, above: [layer, .values(["a": 1]), .values(["a": 8], name: "lower")],
            below: [.values(["b": 2, "a": 3]), .values(["b": 9])])
        #expect(try store.read(root: "A") as NSDictionary? == ["a": 1, "b": 2])
        try store.update(root: "A") { $0?["b"] = 5 }
        try store.update(root: "A") { $0?["size"] = 6 }
        #expect(try base.read(root: "A") as NSDictionary? == ["b": 5, "size": 6])
        for new in [["a": 7, "b": 5, "size": 6], ["b": 7]] {
            let error = #expect(throws: PrefsError.self) { try store.update(root: "A") { $0 = new } }
            #expect(error == .coveredByLayer([PrefsProblem(covered: "a", by: "values", place: "a")]))
        }
        #expect(try base.read(root: "A") as NSDictionary? == ["b": 5, "size": 6])
        try store.update(root: "A") { $0 = nil }
        #expect(try base.read(root: "A") == nil)
        #expect(try store.read(root: "A") as NSDictionary? == ["a": 1, "b": 2])
    }
}

private final class OverridablePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var size = 12

    private static let own = PrefsStore.memory()
    override class var store: PrefsStore { own }
}

/// Migrations and former keys apply to the base.
@Suite struct LayerMigrationTests {
    final class Moved: PersistentPrefs, @unchecked Sendable {
        @Pref(.formerly("seconds")) var milliseconds = 1
        @Pref var other = 0

        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 1) { values in
                    values["milliseconds"] = (values["seconds"] as? Int).map { $0 * 1_000 }
                }
            ]
        }
    }

    @Test func onlyTheBaseIsMigrated() throws {
        let base = PrefsStore.memory()
        try base.update(root: "Moved") { $0 = ["seconds": 5] }
        let above = Moved(store: .layered(base, above: [.values(["milliseconds": 7])]))
        let below = Moved(store: .layered(base, below: [.values(["milliseconds": 7, "other": 3])]))
        #expect(above.milliseconds == 7)
        #expect(below.milliseconds == 5_000)
        #expect(below.other == 3)
        below.other = 4
        #expect(try base.read(root: "Moved")?["milliseconds"] as? Int == 5_000)
        #expect(above.milliseconds == 7)
        below.resetAll()
        #expect((below.milliseconds, below.other) == (7, 3))
        #expect(Moved(store: .layered(.memory(), below: [.values(["milliseconds": 7])])).milliseconds == 7)
    }
}
