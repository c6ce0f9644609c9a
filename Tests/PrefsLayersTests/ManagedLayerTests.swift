@testable import PrefsSupport
import AppleModels
import Foundation
import PrefsStoreKit
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

/// Values that an administrator forces, over the model of `UserDefaults`.
@Suite struct ManagedLayerTests {
    private let process = ModelDaemon(isAutomatic: true).process()
    private let base = PrefsStore.memory()

    private func prefs(below: [PrefsLayer] = []) -> LayerPrefs {
        LayerPrefs(store: .layered(base, above: [.managed(process)], below: below))
    }

    @Test func whatIsNoValueIsTold() {
        let prefs = LayerPrefs(store: .layered(base, above: [.managed { $0 == "size" ? URL(filePath: "/") : nil }]))
        #expect(prefs.size == 12 && prefs.lastError?.layerFaults.map(\.path) == ["size"])
        #expect(prefs.name == "none" && prefs.lastError == nil)
    }

    @Test func managedValuesWinAndAreChecked() {
        let prefs = LayerPrefs(store: .layered(.userDefaults(process), above: [.managed(process)]))
        prefs.size = 30
        prefs.ratio = 1.5
        process.registered = ["name": "registered"]
        process.managed = ["size": 20, "ratio": "x", "tags": ["m"]]
        #expect((prefs.size, prefs.name, prefs.tags) == (20, "none", ["m"]), "registered values are not forced")
        #expect(prefs.$size.source == .layer("managed"))
        #expect(prefs.ratio == 1.5)
        let fault = PrefsProblem(layer: "managed", place: "ratio", reason: "expected Double, found a string")
        #expect(prefs.lastError == .ignoredInLayer([fault]))
        prefs.size = 40
        let covered = PrefsError.coveredByLayer([PrefsProblem(covered: "size", by: "managed", place: "size")])
        #expect(prefs.lastError == covered)
        #expect("\(covered)" == "\"size\" is set by the layer managed; the stored state is unchanged")
        process.managed = [:]
        #expect(prefs.size == 30, "a change is read by the next access")
        prefs.size = 40
        #expect(prefs.size == 40)
    }

    @Test func managedValuesOfEveryKindAreRead() {
        let date = Date(timeIntervalSinceReferenceDate: 1_000)
        process.managed = [
            "size": 20, "name": "m", "ratio": 2, "isOn": true, "theme": "dark", "limit": 3, "numbers": [1, 2],
            "colors": ["red"], "date": date, "server": ["host": "h", "port": 1], "font.size": 14, "plain": "x",
        ]
        let prefs = prefs()
        #expect(prefs.lastError == nil)
        #expect((prefs.size, prefs.name, prefs.ratio, prefs.isOn, prefs.theme) == (20, "m", 2, true, .dark))
        #expect((prefs.limit, prefs.numbers, prefs.colors, prefs.date) == (3, [1, 2], ["red"], date))
        #expect((prefs.server, prefs.fontSize) == (LayerServer(host: "h", port: 1), 14))
        #expect(prefs["plain"] as? String == "x")
        #expect(prefs.describe().filter { $0.source == .layer("managed") }.count == 11)
    }

    /// `TypeCheckTests` has the values of other types.
    @Test func aManagedValueThatDoesNotFitShowsTheNextLayer() {
        process.managed = ["size": 100, "ratio": "x", "server": ["host": "h", "port": "x"]]
        let prefs = prefs(below: [.values(["size": 30])])
        let faults = [
            PrefsProblem(layer: "managed", place: "size", reason: "must be in 8...72"),
            PrefsProblem(layer: "managed", place: "ratio", reason: "expected Double, found a string"),
            PrefsProblem(layer: "managed", place: "server", reason: "server.port: expected Int, found a string"),
        ]
        #expect(prefs.lastError == .ignoredInLayer(faults), "by the initializer")
        #expect(prefs["size"] as? Int == 30 && prefs.lastError == .ignoredInLayer([faults[0]]), "by a read")
        #expect(prefs["server"] == nil && prefs.$server.source == .default)
        #expect((prefs.size, prefs.ratio) == (30, 0.5))
        #expect(prefs.values as NSDictionary == ["size": 30], "nor are they in the merged state")
        prefs.size = 40
        #expect(prefs.size == 40 && prefs.$size.source == .stored, "it covers nothing")
        #expect((try? base.read(root: "LayerPrefs")) as NSDictionary? == ["size": 40])
    }

    /// A transaction has no fixed state of managed values. Each access in it reads them again, and so does the commit.
    @Test(arguments: [false, true])
    func aValueThatBecomesManagedInATransactionIsNotOverwritten(_ isWrittenBefore: Bool) throws {
        let prefs = prefs()
        let error = prefs.update {
            if isWrittenBefore { prefs.size = 30 }
            process.managed = ["size": 20]
            #expect(prefs.size == 20, "it is read at once")
            if !isWrittenBefore { prefs.size = 30 }
            #expect(prefs.size == 20)
        }.failure
        if isWrittenBefore {
            // The write was allowed when it was made. Its value is read once the key is no longer managed.
            #expect(error == nil)
        } else {
            #expect(error?.coveredKeys == [PrefsProblem(covered: "size", by: "managed", place: "size")])
        }
        #expect(prefs.size == 20)
        process.managed = [:]
        #expect(prefs.size == (isWrittenBefore ? 30 : 12))
    }

    @Test func managedValuesAreReadAnewAndNotObserved() {
        let prefs = prefs()
        let heard = Observer<String> { tell in prefs.onChange { tell($0.keys.joined(separator: " ")) } }
        let sizes = prefs.$size.observer()
        #expect(prefs.size == 12)
        process.managed = ["size": 20]
        #expect(prefs.size == 20)
        #expect(prefs.values as NSDictionary == ["size": 20])
        process.managed = ["size": 21]
        #expect((prefs.size, prefs.$size.source) == (21, .layer("managed")))
        process.managed = [:]
        #expect((prefs.size, prefs.$size.source) == (12, .default))
        process.managed = ["size": 22]
        // The next change is the first that observers receive; the covered key is not in it.
        prefs.name = "x"
        #expect(heard.wait(for: 1) == ["name"] && sizes.all == [])
    }
}
