@testable import PrefsSupport
import AppleModels
import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON

/// The preferences that the tests of the simulated store use, in one of its processes.
final class SimulatedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var volume = 0.5
    @Pref var name = "none"
    @Pref var recent: [Int] = []
    @Pref("screen.width") var width = 100

    convenience init(_ process: ModelDefaults, _ layout: DomainLayout = .roots, key: String = "Root") {
        self.init(key: key, store: .userDefaults(process, layout: layout))
    }
}

/// The store of Apple platforms over the model of `UserDefaults` and its daemon.
@Suite struct SimulatedStoreTests {
    private let daemon = ModelDaemon()

    private final class RenamedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var volume = 0.5
        override class var formerRootKeys: [String] { ["FormerName"] }
    }

    /// The revision of the missing entry does not cover the former entry.
    @Test func aFormerRootIsReadAgainWhenItChanges() {
        let (one, other) = (daemon.process(), daemon.process())
        let prefs = RenamedPrefs(store: .userDefaults(one))
        #expect(prefs.volume == 0.5)
        for volume in [1.0, 2, 3] {
            other.set(["volume": volume], forKey: "FormerName")
            daemon.deliver()
            #expect(prefs.volume == volume && prefs["volume"] as? Double == volume)
        }
    }

    // MARK: - Cost

    /// The copies of the domain and the reads of an entry since the last call.
    private func takeCosts(_ process: ModelDefaults) -> [Int] { [process.takeCopies(), process.takeReads()] }

    @Test func aReadDoesNotCopyTheDomain() {
        daemon.process().set(["volume": 1.0], forKey: "Root")
        daemon.deliver()
        let process = daemon.process()
        let prefs = SimulatedPrefs(process)
        // The process copies the domain once, to check whether UserDefaults returns it.
        #expect(process.takeCopies() <= 1)
        _ = process.takeReads()
        for _ in 0..<10 { #expect(prefs.volume == 1) }
        #expect(prefs.values.count == 1)
        #expect(takeCosts(process) == [0, 0])
        daemon.process().set(["volume": 2.0], forKey: "Root")
        daemon.deliver()
        for _ in 0..<10 { #expect(prefs.volume == 2) }
        #expect(takeCosts(process) == [0, 1])
        prefs.volume = 3
        _ = takeCosts(process)
        for _ in 0..<10 { #expect(prefs.volume == 3) }
        #expect(takeCosts(process) == [0, 1])
    }

    @Test func aReadOfAFlatKeyDoesNotCopyTheDomain() {
        let other = daemon.process()
        other.set(1.0, forKey: "volume")
        daemon.deliver()
        let process = daemon.process()
        let prefs = SimulatedPrefs(process, .flat)
        _ = (prefs.volume, prefs.width, process.takeCopies(), process.takeReads())
        for _ in 0..<10 { #expect(prefs.volume == 1) }
        #expect(process.takeReads() == 0)
        // A key with a dot cannot be observed.
        for _ in 0..<10 { #expect(prefs.width == 100) }
        #expect(process.takeReads() == 10)
        other.set(2.0, forKey: "volume")
        other.set(200, forKey: "screen.width")
        daemon.deliver()
        #expect(prefs.volume == 2 && prefs.width == 200)
        #expect(process.takeCopies() == 0)
    }

    // MARK: - What is read

    /// Arguments, managed values and defaults that are registered or of the whole system are not values of the domain.
    @Test(arguments: [DomainLayout.roots, .flat])
    func otherDomainsAreNotRead(_ layout: DomainLayout) {
        let process = daemon.process()
        let foreign: [String: Any] = layout == .flat ? ["volume": 9.0, "name": "x"] : ["Root": ["volume": 9.0]]
        for path in [\ModelDefaults.managed, \.arguments, \.registered, \.global] {
            process[keyPath: path] = foreign
            let prefs = SimulatedPrefs(process, layout)
            #expect(prefs.volume == 0.5 && !prefs.$volume.isStored && prefs.values.isEmpty)
            prefs.name = "n"
            #expect(prefs.volume == 0.5 && !prefs.$volume.isStored)
            prefs.volume = 9
            #expect(prefs.volume == 9 && prefs.$volume.isStored)
            prefs.deleteRoot()
            #expect(process.entries.isEmpty)
            process[keyPath: path] = [:]
            // The model does not report changes of these values.
            process.set(nil, forKey: "any")
        }
    }

    @Test(arguments: [DomainLayout.roots, .flat])
    func whatNoValueCanExpressIsKept(_ layout: DomainLayout) {
        let process = daemon.process()
        let entries: [String: Any] = ["a": 1, "b": NSNull()]
        (layout == .roots ? ["AnyPrefs": entries] : entries).forEach { process.set($1, forKey: $0) }
        let prefs = AnyPrefs(store: .userDefaults(process, layout: layout))
        func stored() -> [String: Any]? {
            layout == .roots ? process.entries["AnyPrefs"] as? [String: Any] : process.entries
        }
        #expect(prefs["a"] as? Int == 1 && prefs["b"] is NSNull && prefs.values.count == 2)
        prefs["c"] = 3
        #expect(prefs.update { $0["a"] = 2 }.failure == nil)
        #expect(stored()?.count == 3 && stored()?["a"] as? Int == 2 && stored()?["b"] is NSNull)
        // A write of one is refused, also of one that was read.
        prefs["c"] = prefs["b"]
        #expect(prefs.outcome.contains("c: NSNull cannot be stored"), "\(prefs.outcome)")
        #expect(prefs.values["c"] as? Int == 3)
        #expect(prefs.exported(as: .xml) == nil)
        #expect(prefs.outcome.contains("b: an object that no property list can hold"), "\(prefs.outcome)")
        #expect(prefs.exported(as: .binary) == nil)
        #expect(prefs.outcome.contains("b: holds an object that no property list can hold"), "\(prefs.outcome)")
        #expect(prefs.exported(as: .json) == nil)
        #expect(prefs.outcome.contains("b: NSNull cannot be stored"), "\(prefs.outcome)")
        let (one, other) = (NSNull(), NSObject())
        #expect(StoredValue.foreign(ForeignObject(one)) == .foreign(ForeignObject(one)))
        #expect(StoredValue.foreign(ForeignObject(one)) != .foreign(ForeignObject(other)))
        prefs["b"] = nil
        #expect(prefs.lastError == nil && stored()?.keys.sorted() == ["a", "c"])
    }

    /// As in a file, entries of other programs may be deeper than entries of this package, or hold other dates.
    @Test(arguments: [DomainLayout.roots, .flat])
    func whatOthersMayStoreIsReadAndKept(_ layout: DomainLayout) {
        let process = daemon.process()
        let deep = (1...70).reduce("x" as Any) { inner, _ in [inner] }
        let far = Date(timeIntervalSinceReferenceDate: 1e18)
        let large = Data(count: 5 << 20)
        let entries: [String: Any] = ["a": 1, "deep": deep, "far": far, "large": large]
        (layout == .roots ? ["AnyPrefs": entries] : entries).forEach { process.set($1, forKey: $0) }
        let prefs = AnyPrefs(["a", "deep", "far", "large"], store: .userDefaults(process, layout: layout))
        #expect(prefs["far"] as? Date == far && (prefs["large"] as? Data)?.count == large.count)
        #expect(exactForm(prefs["deep"] ?? "") == exactForm(deep))
        prefs["a"] = nil
        #expect(prefs.lastError == nil, "\(prefs.outcome)")
        let root = layout == .roots ? process.entries["AnyPrefs"] as? [String: Any] : process.entries
        #expect(root?.keys.sorted() == ["deep", "far", "large"] && root?["far"] as? Date == far)
        prefs["large"] = nil
        prefs["a"] = 2
        #expect(prefs.lastError == nil, "\(prefs.outcome)")
        #expect(prefs.values.keys.sorted() == ["a", "deep", "far"])
    }

    // MARK: - Several processes

    /// An app and its extension change different keys of one domain, and each of them survives.
    @Test func flatKeysOfTwoProcessesAreBothThere() {
        let (app, appExtension) = (daemon.process(), daemon.process())
        let (one, two) = (SimulatedPrefs(app, .flat), SimulatedPrefs(appExtension, .flat))
        one.volume = 1
        two.name = "two"
        two.recent = [1]
        one.recent = [2]
        daemon.deliver()
        for prefs in [one, two, SimulatedPrefs(daemon.process(), .flat)] {
            #expect(prefs.volume == 1 && prefs.name == "two" && prefs.recent == [2])
        }
        // With a root, the last writer wins as a whole, because `update` is exact only within a process.
        let (first, second) = (SimulatedPrefs(app), SimulatedPrefs(appExtension))
        first.volume = 2
        second.name = "root"
        daemon.deliver()
        #expect(first.volume == 0.5 && first.name == "root")
    }

    @Test func eachChangedKeyIsOneSet() {
        let process = daemon.process()
        let prefs = SimulatedPrefs(process, .flat)
        prefs.update { ($0["volume"], $0["name"], $0["recent"]) = (1.0, "n", [1]) }
        nonisolated(unsafe) var sets: [String] = []
        process.willSet = { sets.append($0) }
        prefs.update { ($0["volume"], $0["name"], $0["recent"]) = (1.0, "m", nil) }
        #expect(sets.sorted() == ["name", "recent"])
        sets = []
        prefs.volume = 1
        #expect(sets == [])
        prefs.width = 1
        #expect(sets.sorted() == ["PersistentPreferences mark", "screen.width"])
    }

    @Test(arguments: [DomainLayout.roots, .flat])
    func observersReceiveChangesOfOtherProcesses(_ layout: DomainLayout) throws {
        let (app, other) = (daemon.process(), daemon.process())
        let mine = AnyPrefs(observedNames, key: "Root", store: .userDefaults(app, layout: layout))
        let theirs = AnyPrefs(observedNames, key: "Root", store: .userDefaults(other, layout: layout))
        let heard = mine.observer()
        theirs["a"] = 1
        daemon.deliver()
        #expect(heard.wait(for: 1) == ["Root a: - → 1 elsewhere"])
        mine["a"] = 2
        #expect(heard.wait(for: 2).last == "Root a: 1 → 2")
        daemon.deliver()
        theirs["a"] = nil
        daemon.deliver()
        #expect(heard.wait(for: 3).last == "Root a: 2 → - elsewhere")
    }

    /// A key with a dot cannot be observed: another process's commit of it changes another entry, which is observed.
    @Test func observersReceiveChangesOfKeysWithDots() {
        let (app, other) = (daemon.process(), daemon.process())
        let mine = SimulatedPrefs(app, .flat)
        let heard = mine.$width.observer()
        SimulatedPrefs(other, .flat).width = 5
        daemon.deliver()
        #expect(heard.wait(for: 1) == [[100, 5]])
        // Other code of the same process.
        app.set(6, forKey: "screen.width")
        #expect(heard.wait(for: 2).last == [5, 6])
        let volumes = SimulatedPrefs(app, key: "com.example.Root").$volume.observer()
        SimulatedPrefs(other, key: "com.example.Root").volume = 7
        daemon.deliver()
        #expect(volumes.wait(for: 1) == [[0.5, 7]])
    }

    /// If a change is reported while an entry is read, the value that was read is not cached.
    @Test(arguments: [DomainLayout.roots, .flat])
    func aChangeDuringAReadIsSeen(_ layout: DomainLayout) {
        let (app, other) = (daemon.process(), daemon.process())
        let theirs = SimulatedPrefs(other, layout)
        nonisolated(unsafe) var hasCome = false
        app.didRead = { [daemon] _ in
            guard !hasCome else { return }
            hasCome = true
            theirs.volume = 2
            daemon.deliver()
        }
        let mine = SimulatedPrefs(app, layout)
        _ = mine.volume
        #expect(hasCome)
        #expect(mine.volume == 2)
    }

    /// With former names and versions, too.
    @Test func aReadOfAFlatKeyWithAFormerNameDoesNotCopyTheDomain() {
        let other = daemon.process()
        other.set(4, forKey: "cols")
        daemon.deliver()
        let process = daemon.process()
        let prefs = ColumnPrefs(store: .userDefaults(process, layout: .flat))
        #expect(prefs.columns == 8)
        prefs.columns = 9
        _ = prefs.columns
        #expect(process.takeCopies() > 0)
        for _ in 0..<10 { #expect(prefs.columns == 9) }
        #expect(process.takeCopies() == 0)
        // An old version of the program writes the former name: the value of the new one counts.
        daemon.deliver()
        other.set(5, forKey: "cols")
        daemon.deliver()
        #expect(prefs.columns == 9)
        other.set(nil, forKey: "columns")
        daemon.deliver()
        #expect(prefs.columns == 5)
        #expect(process.takeCopies() == 0)
    }

    /// None of the names is in the domain when the observation begins.
    @Test func observersReceiveChangesUnderFormerNames() {
        let (app, other) = (daemon.process(), daemon.process())
        let heard = ColumnPrefs(store: .userDefaults(app, layout: .flat)).$columns.observer()
        other.set(4, forKey: "cols")
        daemon.deliver()
        #expect(heard.wait(for: 1) == [[3, 8]])
        other.set(5, forKey: "columns")
        daemon.deliver()
        #expect(heard.wait(for: 2).last == [8, 5])
    }

    /// UserDefaults takes them for key paths and operators.
    @Test(arguments: ["@count", "a.b", "a.", ".", "@"]) func aKeyThatReadsAsAPathIsNotObserved(_ key: String) {
        let (app, other) = (daemon.process(), daemon.process())
        let prefs = AnyPrefs([key, "plain@"], store: .userDefaults(app, layout: .flat))
        let heard = prefs.observer(of: key)
        #expect(prefs[key] == nil && prefs["plain@"] == nil)
        AnyPrefs([key], store: .userDefaults(other, layout: .flat))[key] = 1
        daemon.deliver()
        #expect(heard.wait(for: 1) == ["AnyPrefs \(key): - → 1 elsewhere"] && prefs[key] as? Int == 1)
        #expect(!app.observedKeys.contains(key) && app.observedKeys.contains("plain@"))
    }

    /// There are so many keys that not all of them may be observed for ever.
    @Test func thousandsOfKeysAreReadWithoutBeingObserved() {
        let process = daemon.process()
        let names = (0..<3_000).map { "key\($0)" }
        let prefs = AnyPrefs(names, store: .userDefaults(process, layout: .flat))
        for name in names { #expect(prefs[name] == nil) }
        #expect(process.observedKeys.count == 1_000)
        daemon.process().set(1, forKey: "key2999")
        daemon.deliver()
        #expect(prefs["key2999"] as? Int == 1)
    }

    // MARK: - Size

    @Test func aDomainNearItsLimitWarnsAndOneBeyondIsRejected() throws {
        let process = daemon.process()
        process.sizeLimits = (512_000, 1_000_000)
        process.hasDataProtection = false
        final class Blob: PersistentPrefs, @unchecked Sendable {
            @Pref var blob = Data()
            @Pref var other = 0
        }
        let prefs = Blob(store: .userDefaults(process))
        prefs.blob = Data(count: 400_000)
        #expect(prefs.lastError == nil)
        #expect(prefs.$blob.set(Data(count: 600_000)) == prefs.lastError)
        guard case .nearSizeLimit(let bytes, 1_000_000)? = prefs.lastError else {
            Issue.record("\(String(describing: prefs.lastError))")
            return
        }
        #expect((600_000...601_000).contains(bytes))
        #expect(prefs.lastError?.isWarning == true)
        #expect(prefs.blob.count == 600_000 && prefs.lastError == nil)
        prefs.blob = Data(count: 1_100_000)
        let failure = try #require(prefs.lastError?.detail(of: PrefsError.notStored), "\(prefs.outcome)")
        #expect(failure.reason.hasSuffix("bytes; this system allows less than 1000000"))
        #expect(prefs.blob.count == 600_000)
        // Exactly as large as the size of the warning, and as the maximum.
        process.sizeLimits = (bytes, 1_000_000)
        #expect(prefs.$blob.set(Data(repeating: 1, count: 600_000)) == .nearSizeLimit(bytes: bytes, limit: 1_000_000))
        process.sizeLimits = (bytes + 1, 1_000_000)
        #expect(prefs.$blob.set(Data(repeating: 2, count: 600_000)) == nil && prefs.lastError == nil)
        process.sizeLimits = (nil, bytes)
        #expect(prefs.$blob.set(Data(repeating: 3, count: 600_000))?.detail(of: PrefsError.notStored) != nil)
        process.sizeLimits = (nil, bytes + 1)
        #expect(prefs.$blob.set(Data(repeating: 3, count: 600_000)) == nil && prefs.lastError == nil)
        process.sizeLimits = (512_000, 1_000_000)
        // A domain that others have made too large may shrink.
        process.set(["blob": Data(count: 1_200_000)], forKey: "Blob")
        prefs.other = 1
        #expect(prefs.lastError != nil)
        prefs.blob = Data(count: 1_150_000)
        #expect(prefs.blob.count == 1_150_000)
        // A warning is told once.
        prefs.blob = Data(count: 600_000)
        #expect(prefs.lastError?.isWarning == true)
        prefs.blob = Data()
        #expect(prefs.lastError == nil)
    }
}
