@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import EngineSupport

/// Nested accesses on one thread do not deadlock, and make one commit or none. Uses a file and a store of another
/// module.
@Suite(.limited) struct NestingTests {
    enum Kind: CaseIterable {
        case file, memory, foreign
    }

    private let folder = TemporaryFolder.fresh

    private func prefs(_ kind: Kind, _ values: [String: Any]? = nil) -> (AnyPrefs, AnyPrefs) {
        let store: PrefsStore =
            switch kind {
            case .file: PrefsStore.propertyList(url: folder.file())
            case .memory: PrefsStore.memory()
            case .foreign: ForeignBackend().store
            }
        return (AnyPrefs(values: values, store: store), AnyPrefs(store: store))
    }

    @Test(arguments: Kind.allCases)
    func readsInsideAnUpdateSeeWhatItWrote(_ kind: Kind) {
        let (prefs, other) = prefs(kind, ["a": 1])
        let error = prefs.update {
            #expect(prefs.ints == ["a": 1])
            prefs["b"] = 2
            #expect(prefs.ints == ["a": 1, "b": 2])
            #expect(other["b"] as? Int == 2)
            other.values["c"] = 3
            #expect(prefs.values.count == 3)
        }.failure
        #expect(error == nil)
        #expect(other.ints == ["a": 1, "b": 2, "c": 3])
    }

    @Test(arguments: Kind.allCases)
    func anErrorThrownHalfWayUndoesAll(_ kind: Kind) {
        let (prefs, other) = prefs(kind, ["a": 1])
        #expect(throws: Stop.self) {
            try prefs.update { values in
                values["a"] = 2
                other["b"] = 2
                throw Stop()
            }
        }
        #expect(prefs.outcome == "Stop()")
        #expect(other.ints == ["a": 1])
        #expect(throws: Stop.self) {
            try prefs.update {
                prefs["a"] = 3
                try other.update { throw Stop() }
            }
        }
        #expect(other.ints == ["a": 1])
    }

    @Test(arguments: Kind.allCases)
    func aRejectedWriteAnywhereUndoesAllAndARejectedReadNothing(_ kind: Kind) {
        let (prefs, other) = prefs(kind, ["a": 1])
        let error = prefs.update {
            prefs["a"] = 2
            other["b"] = UUID()
            #expect(other.lastError != nil && prefs.ints == ["a": 2])
            prefs["c"] = 3
        }.failure
        #expect(error.map { "\($0)" }?.hasPrefix("b: a UUID") == true)
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.update { other["unknown"] = 1 }.failure == .incorrectKeys(invalidElements: ["unknown"]))
        let none = prefs.update {
            prefs["a"] = 4
            _ = other["unknown"]
        }.failure
        #expect(none == nil)
        #expect(prefs.ints == ["a": 4])
    }

    @Test func aWriteToAnotherStoreInsideIsRejected() throws {
        let (prefs, _) = prefs(.file, ["a": 1])
        let elsewhere = AnyPrefs(store: .propertyList(url: folder.file("other.plist")))
        let error = prefs.update {
            prefs["a"] = 2
            elsewhere["a"] = 1
            #expect(elsewhere.outcome == "a write to another store inside an update; end the update first")
            #expect(elsewhere.values.isEmpty)
        }.failure
        #expect(error == .updateOfAnotherStore)
        #expect(prefs.ints == ["a": 1])
        #expect(try folder.names().contains("other.plist") == false)
    }

    @Test(arguments: Kind.allCases)
    func swapInPlace(_ kind: Kind) {
        let (prefs, _) = prefs(kind, ["a": 1, "b": 2])
        swap(&prefs.values["a"], &prefs.values["b"])
        #expect(prefs.ints == ["a": 2, "b": 1])
        swap(&prefs["a"], &prefs["b"])
        #expect(prefs.ints == ["a": 1, "b": 2])
    }

    @Test(arguments: Kind.allCases)
    func inoutAcrossSuspension(_ kind: Kind) async {
        let (prefs, other) = prefs(kind, ["a": 1])
        await add(to: &prefs.values, meanwhile: { other["c"] = 3 })
        #expect(prefs.ints == ["a": 1, "b": 2, "c": 3])
    }

    private func add(to values: inout [String: Any], meanwhile: @Sendable () -> Void) async {
        values["b"] = 1
        for _ in 0..<20 { await Task.yield() }
        meanwhile()
        await Task.detached { await Task.yield() }.value
        values["b"] = 2
    }

    @Test(arguments: Kind.allCases)
    func anInPlaceChangeThatThrowsStoresNothing(_ kind: Kind) {
        let (prefs, _) = prefs(kind, ["a": 1])
        func change(_ values: inout [String: Any]) throws {
            values["a"] = 2
            throw Stop()
        }
        #expect(throws: Stop.self) { try change(&prefs.values) }
        #expect(prefs.ints == ["a": 1])
    }

    @Test func aTaskStartedInsideAnUpdateTakesNoPartInIt() async {
        let (prefs, other) = prefs(.file, ["a": 1])
        nonisolated(unsafe) var task: Task<[String: Int], Never>?
        await prefs.update {
            prefs["a"] = 2
            let read = Gate()
            // With a high priority, it does not queue behind all other tests.
            task = Task.detached(priority: .high) {
                defer { read.open() }
                return other.ints
            }
            read.pass()
        }
        #expect(await task?.value == ["a": 1])
        #expect(prefs.ints == ["a": 2])
    }

    @Test func aRejectionInADeinitInsideAnUpdateIsSurvived() {
        final class Fleeting: PersistentPrefs, @unchecked Sendable {
            override var allowedKeys: [String] { ["a"] }
            deinit { self["bad"] = 1 }
        }
        let store = PrefsStore.memory()
        let prefs = AnyPrefs(store: store)
        let error = prefs.update { _ = Fleeting(store: store) }.failure
        #expect(error.map { "\($0)" } == "expected a key that @Pref declares or allowedKeys lists, found \"bad\"")
    }
}
