@testable import PrefsSupport
import AppleModels
import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// One event for each write or update that changed something, with exactly its changes.
@Suite struct EventTests {
    private let folder: TemporaryFolder
    private let system = RecordingSystemCalls()

    init() throws {
        folder = try TemporaryFolder()
        system.flushes = false
    }

    enum Place: CaseIterable { case memory, binary, xml, json, simulated, simulatedFlat }

    private func store(_ place: Place, _ watcher: Watcher = .system) -> any PrefsStore {
        let system = WatchedSystemCalls(watcher)
        return switch place {
        case .memory: InMemoryStore()
        case .simulated: UserDefaultsStore(ModelDaemon(isAutomatic: true).process())
        case .simulatedFlat: UserDefaultsStore(ModelDaemon(isAutomatic: true).process(), layout: .flat)
        case .binary: PropertyListFileStore(url: folder.file(), durability: .process, system: system)
        case .xml:
            PropertyListFileStore(url: folder.file("test.xml"), format: .xml, durability: .process, system: system)
        case .json:
            PropertyListFileStore(url: folder.file("test.json"), format: .json, durability: .process, system: system)
        }
    }

    private func prefs(_ store: any PrefsStore, key: String? = "Root") -> AnyPrefs {
        AnyPrefs(observedNames, key: key, store: store)
    }

    private struct Failed: Error {}

    @Test(arguments: Place.allCases, Watcher.allCases)
    func eachCommitIsOneEvent(_ place: Place, _ watcher: Watcher) throws {
        let store = store(place, watcher)
        let prefs = prefs(store)
        let listener = Listener(prefs)
        let other = self.prefs(store)
        let steps: [(String, () -> Void, [String])] = [
            ("write", { prefs["a"] = 1 }, ["Root a: - → 1"]),
            ("equal write", { prefs["a"] = 1 }, []),
            ("kinds of 1", { prefs["a"] = 1.0 }, ["Root a: 1 → 1.0 (3ff0000000000000)"]),
            ("truth", { prefs["a"] = true }, ["Root a: 1.0 (3ff0000000000000) → true"]),
            ("another instance", { other["b"] = "x" }, ["Root b: - → 'x'"]),
            (
                "several keys", { prefs.update { ($0["a"], $0["b"], $0["c"]) = (2, nil, [1]) } },
                ["Root a: true → 2, b: 'x' → -, c: - → [1]"]
            ),
            ("equal update", { prefs.update { ($0["a"], $0["c"]) = (2, [1]) } }, []),
            (
                "update back and forth",
                {
                    prefs.update {
                        prefs["a"] = 9
                        prefs["a"] = 2
                    }
                }, []
            ),
            (
                "nested",
                {
                    prefs.update {
                        prefs["a"] = 3
                        other.update { $0["b"] = 4 }
                        prefs.update { prefs.values["c"] = nil }
                    }
                }, ["Root a: 2 → 3, b: - → 4, c: [1] → -"]
            ),
            ("in place", { prefs.values["a"] = 5 }, ["Root a: 3 → 5"]),
            ("assigned", { prefs.values = ["b": 4, "c": 6] }, ["Root a: 5 → -, c: - → 6, end: *"]),
            ("import", { prefs.import(Data(#"{"a": 7, "b": 4}"#.utf8), merge: true) }, ["Root a: - → 7"]),
            ("equal import", { prefs.import(Data(#"{"a": 7}"#.utf8), merge: true) }, []),
            ("clear", { prefs.clear() }, ["Root a: 7 → -, b: 4 → -, c: 6 → -, end: *"]),
            (
                "clear of nothing",
                {
                    prefs["end"] = nil
                    prefs.clear()
                }, ["Root end: *"]
            ),
            (
                "thrown",
                {
                    _ = try? prefs.update { _ in
                        prefs["a"] = 1
                        throw Failed()
                    }
                }, []
            ),
            (
                "refused",
                {
                    prefs.update {
                        $0["a"] = 1; $0["b"] = Date(timeIntervalSince1970: .nan)
                    }
                }, []
            ),
            (
                "refused inside",
                {
                    prefs.update {
                        prefs["a"] = 1
                        prefs["unknown"] = 1
                    }
                }, []
            ),
            ("before deletion", { prefs["a"] = Data([1]) }, ["Root a: - → data AQ=="]),
            ("deleted", { prefs.deleteAll() }, ["Root a: data AQ== → -, end: *"]),
            ("deleted again", { (0..<2).forEach { _ in prefs.deleteAll() } }, ["Root end: *"]),
        ]
        for (name, step, expected) in steps {
            step()
            #expect(listener.take().map(withoutMark) == expected, "\(name)")
        }
    }

    /// Removes the mark, which has a new value each time.
    private func withoutMark(_ text: String) -> String {
        text.replacing(/end: '[^']*' → -/, with: "end: *")
    }

    @Test func onlyTheChangedRootIsReported() {
        let store = InMemoryStore()
        let (one, two) = (prefs(store, key: "One"), prefs(store, key: "Two"))
        let (first, second) = (Listener(one), Listener(two))
        one["a"] = 1
        one.update {
            one["a"] = 2
            two["b"] = 3
        }
        #expect(first.take() == ["One a: - → 1", "One a: 1 → 2"])
        #expect(second.take() == ["Two b: - → 3"])
    }

    @Test func keysOfOtherVersionsAreNotReported() {
        let store = InMemoryStore()
        let listener = Listener(prefs(store))
        let newer = AnyPrefs(["a", "new"], key: "Root", store: store)
        newer["new"] = 1
        newer.update { ($0["a"], $0["new"]) = (1, 2) }
        #expect(listener.take() == ["Root a: - → 1"])
    }

    @Test func anObserverOfSomeKeysReceivesTheirChanges() {
        let prefs = prefs(InMemoryStore())
        let heard = Heard<String>()
        let observation = prefs.onChange(of: "a", "c") { heard.append($0.text) }
        prefs["b"] = 1
        prefs.update { ($0["a"], $0["b"]) = (1, 2) }
        prefs["b"] = 3
        prefs["c"] = 1
        #expect(heard.wait(for: 2) == ["Root a: - → 1", "Root c: - → 1"])
        withExtendedLifetime(observation) {}
    }

    @Test func keysThatAreNotAllowedAreRejected() {
        let prefs = prefs(InMemoryStore())
        let heard = Heard<String>()
        let observation = prefs.onChange(of: "a", "z", "y") { heard.append($0.text) }
        #expect(prefs.outcome == "\(PrefsError.incorrectKeys(invalidElements: ["y", "z"]))")
        prefs["a"] = 1
        #expect(Listener(prefs).take() == [])
        #expect(heard.all == [])
        observation.cancel()
    }

    @Test func theCommittedStateIsReported() throws {
        let prefs = prefs(PropertyListFileStore(url: folder.file(), system: system))
        prefs["a"] = 0
        let listener = Listener(prefs)
        system.fail("rename", with: EIO)
        prefs["a"] = 1
        #expect(prefs.outcome.hasSuffix("the stored state is unchanged"))
        #expect(listener.take() == [])
        system.fail("fsync", with: ENOSPC)
        prefs["a"] = 2
        #expect(prefs.outcome.hasSuffix("the stored state is unchanged"))
        #expect(listener.take() == [])
        // The flush of the file, then the flush of its folder.
        failsFolderFlush()
        prefs["a"] = 3
        #expect(
            prefs.outcome.hasSuffix("the new state is stored, but an older one may return after a power cut or damage"))
        system.onCall = nil
        #expect(listener.take() == ["Root a: 0 → 3"])
    }

    private func failsFolderFlush() {
        nonisolated(unsafe) var flushes = 0
        system.onCall = { name throws(StorageFailure) in
            if name == "fsync" { flushes += 1 }
            if name == "fsync", flushes == 2 { throw StorageFailure("fsync", "", code: EIO) }
        }
    }

    @Test func aDateInXMLIsReportedAsItIsRead() throws {
        let prefs = prefs(store(.xml))
        let listener = Listener(prefs)
        let date = Date(timeIntervalSinceReferenceDate: 1_000.75)
        let whole = exactForm(Date(timeIntervalSinceReferenceDate: 1_000))
        prefs["a"] = ["when": date]
        #expect(listener.take() == ["Root a: - → {'when': \(whole)}"])
        prefs["a"] = ["when": date + 0.1]
        #expect(listener.take() == [])
        #expect(prefs["a"].map(exactForm) == "{'when': \(whole)}")
    }

    /// A root that is not a dictionary has no values, so its removal is not a change. New values in its place are a
    /// change.
    @Test(arguments: [Place.binary, .xml])
    func aRootThatIsNotADictionaryIsEmpty(_ place: Place) throws {
        let url = folder.file(place == .xml ? "test.xml" : "test.plist")
        try writePropertyList(["Root": ["a", "list"]], to: url, as: place == .xml ? .xml : .binary)
        let prefs = prefs(store(place))
        let heard = Heard<String>()
        let observation = prefs.onChange { heard.append($0.text) }
        prefs["a"] = 1
        #expect(prefs.outcome == "\(PrefsError.rootIsNotDictionary(key: "Root"))")
        prefs.deleteAll()
        prefs["a"] = 2
        #expect(heard.wait(for: 1) == ["Root a: - → 2"])
        withExtendedLifetime(observation) {}
    }

    /// The assignment of all values repairs such a root, as in RVS_PersistentPrefs 1.7. No other write does.
    @Test(arguments: [Place.binary, .xml])
    func allValuesReplaceARootThatIsNotADictionary(_ place: Place) throws {
        for values in [["a": 2], [:]] {
            let url = folder.file(place == .xml ? "test.xml" : "test.plist")
            try writePropertyList(["Root": ["a", "list"], "Other": 1], to: url, as: place == .xml ? .xml : .binary)
            let prefs = prefs(store(place))
            prefs.values["a"] = 1
            #expect(prefs.outcome == "\(PrefsError.rootIsNotDictionary(key: "Root"))")
            prefs.values = ["a": Date(timeIntervalSinceReferenceDate: .nan)]
            #expect(prefs.lastError != nil)
            // A rejected value replaces nothing.
            #expect(try propertyList(at: url)["Root"] as? [String] == ["a", "list"])
            prefs.values = values
            #expect(prefs.lastError == nil)
            #expect(try propertyList(at: url) as NSDictionary == ["Root": values, "Other": 1])
        }
    }

    private final class SizePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
        @Pref var name: String? = nil
    }

    @Test func aPropertyReportsItsValues() {
        let prefs = SizePrefs(key: "Root", store: InMemoryStore())
        let sizes = Heard<[Int]>()
        let events = Heard<String>()
        let observations = [
            prefs.$size.onChange { sizes.append([$0, $1]) }, prefs.onChange { events.append($0.text) },
        ]
        prefs.size = 14
        prefs.name = "x"
        // The value does not change: the default is stored, reset, and cannot be read.
        prefs.$size.reset()
        prefs.size = 12
        prefs.$size.reset()
        let raw = AnyPrefs(["size"], key: "Root", store: prefs.ownStore)
        raw["size"] = "large"
        prefs.update { (prefs.size, prefs.name) = (16, nil) }
        #expect(sizes.wait(for: 3) == [[12, 14], [14, 12], [12, 16]])
        #expect(
            events.wait(for: 7) == [
                "Root size: - → 14", "Root name: - → 'x'", "Root size: 14 → -", "Root size: - → 12",
                "Root size: 12 → -", "Root size: - → 'large'", "Root name: 'x' → -, size: 'large' → 16",
            ])
        withExtendedLifetime(observations) {}
    }
}
