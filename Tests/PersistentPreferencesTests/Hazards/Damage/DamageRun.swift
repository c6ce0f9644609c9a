import Foundation
import TestSupport

@testable import PersistentPreferences

/// Runs encounters in a folder of its own, one after the other, and compares everything with what it has to be.
final class DamageRun {
    private let folder: TemporaryFolder
    private let goodBytes: Data
    private(set) var tally = DamageTally()

    init(goodBytes: Data) throws {
        folder = try TemporaryFolder()
        self.goodBytes = goodBytes
    }

    func run(_ cases: [DamageCase]) {
        tally.planned += cases.count
        for damage in cases {
            do {
                try run(damage)
                tally.finished += 1
            } catch {
                tally.violations.append("\(damage): \(error)")
            }
        }
    }

    private func run(_ damage: DamageCase) throws {
        for name in try folder.names() { unlink(folder.path + "/" + name) }
        let file = folder.file()
        put(goodBytes, "test.plist")
        switch damage.lastGood {
        case .good: put(goodBytes, ".test.plist.lastgood")
        case .absent: break
        case .damaged: put(Data(count: goodBytes.count), ".test.plist.lastgood")
        }
        let system = RecordingSystemCalls()
        system.flushes = false
        func make() -> AnyPrefs { AnyPrefs(store: PropertyListFileStore(url: file, system: system)) }
        let prefs: AnyPrefs
        if let meeting = damage.meeting {
            // With the true clock, or the cache would take files of this very moment for old and unchanging.
            system.isClockAhead = false
            prefs = make()
            system.isClockAhead = true
            put(damage.bytes, "test.plist")
            meeting.run(on: prefs)
        } else {
            put(damage.bytes, "test.plist")
            prefs = make()
        }
        try check(prefs, damage, system)
    }

    /// Foundation's writer flushes, which takes longer than all the rest.
    private func put(_ bytes: Data, _ name: String) {
        let file = open(folder.path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        precondition(count == bytes.count)
    }

    // MARK: - What has to hold

    private func check(_ prefs: AnyPrefs, _ damage: DamageCase, _ system: RecordingSystemCalls) throws {
        var flaws: [String] = []
        func expect(_ condition: Bool, _ claim: @autoclosure () -> String) {
            if !condition { flaws.append(claim()) }
        }
        let names = try folder.names()
        let aside = names.filter { $0.hasPrefix("test.plist.corrupt-") }
        expect(!names.contains { $0.hasSuffix(".tmp") }, "a temporary file stays: \(names)")
        let result = outcome(of: damage, setAsideAs: aside.first.map { folder.path + "/" + $0 })
        expect(prefs.errors == result.told, "told \(prefs.errors) instead of \(result.told)")
        expect(prefs.outcome == result.told.last ?? "ok", "lastError is \(prefs.outcome)")
        if case .damage = damage.expected {
            let isSetAside = aside.count == 1 && (try? Data(contentsOf: folder.file(aside[0]))) == damage.bytes
            expect(isSetAside, "the damaged bytes are not in exactly one file aside: \(aside)")
            if isSetAside { tally.setAside += 1 }
            if damage.lastGood == .good, isContent(try? Data(contentsOf: folder.file()), result.content) {
                tally.restored += 1
            }
        } else {
            expect(aside.isEmpty, "a file that is not damaged was set aside")
        }
        let bytes = try? Data(contentsOf: folder.file())
        if result.isUntouched { expect(bytes == damage.bytes, "the file's bytes were touched") }
        expect(isContent(bytes, result.content), "on disk is \(describe(bytes)) instead of \(describe(result.content))")

        // The next accesses: the state is in memory too, the news is told no more, and a write works.
        let visible = (result.content?["AnyPrefs"] as? [String: Any] ?? [:]).filter {
            ["a", "b", "c"].contains($0.key)
        }
        expect(CanonicalValue.areEqual(prefs.values, visible), "in memory is \(prefs.values) instead of \(visible)")
        expect(prefs.outcome == result.then ?? "ok", "then lastError is \(prefs.outcome)")
        prefs["c"] = Data([7])
        expect(prefs.outcome == result.then ?? "ok", "then a write says \(prefs.outcome)")
        let last = result.then == nil ? adding(["c": Data([7])], to: result.content) : result.content
        let lastBytes = try? Data(contentsOf: folder.file())
        expect(isContent(lastBytes, last), "then on disk is \(describe(lastBytes)) instead of \(describe(last))")
        if result.then != nil { expect(lastBytes == damage.bytes, "then the file's bytes were touched") }
        let end = try folder.names().filter { !aside.contains($0) }
        let most = [".test.plist.lastgood", ".test.plist.lock", "test.plist"]
        expect(Set(end).isSubset(of: most), "in the folder is \(end)")
        expect(system.doubleCloses == 0, "a descriptor was closed twice")
        if !flaws.isEmpty {
            tally.violations.append("\(damage): \(flaws.joined(separator: "; "))")
        }
    }

    private struct Outcome {
        /// Every error that the instance has heard of.
        var told: [String] = []
        /// What every later access says; nil where it succeeds.
        var then: String?
        /// What is on disk and, of its root, in memory; nil where there is no file or none that can be read.
        var content: [String: Any]?
        var isUntouched = false
    }

    private func outcome(of damage: DamageCase, setAsideAs: String?) -> Outcome {
        let path = folder.file().path
        let nothing = "\(PrefsError.noStoredPrefsForKey(key: "AnyPrefs"))"
        var outcome = Outcome()
        switch damage.expected {
        case .excess(let reason):
            let error = "\(PrefsError.unreadable(StorageFailure(path: path, reason: reason)))"
            return Outcome(told: [error], then: error, content: nil, isUntouched: true)
        case .damage(let reason):
            let isRestored = damage.lastGood == .good
            outcome.told = [
                "\(PrefsError.damaged(path: path, reason: reason, setAsideAs: setAsideAs, isRestored: isRestored))"
            ]
            outcome.content = isRestored ? DamageCase.goodContent : nil
        case .content(let content, _):
            outcome.content = content
            outcome.isUntouched = !damage.isWrite
        }
        let root = outcome.content?["AnyPrefs"]
        if let root, !(root is [String: Any]) {
            let error = "\(PrefsError.rootIsNotDictionary(key: "AnyPrefs"))"
            return Outcome(told: [error], then: error, content: outcome.content, isUntouched: true)
        }
        if root == nil, damage.meeting == .flush { outcome.told.append(nothing) }
        if damage.isWrite { outcome.content = adding(["a": 5 as NSNumber], to: outcome.content) }
        return outcome
    }

    private func adding(_ values: [String: Any], to content: [String: Any]?) -> [String: Any] {
        var content = content ?? [:]
        content["AnyPrefs"] = (content["AnyPrefs"] as? [String: Any] ?? [:]).merging(values) { $1 }
        return content
    }

    private func isContent(_ bytes: Data?, _ content: [String: Any]?) -> Bool {
        guard let bytes, case .content(let stored, _) = DamageCase.Expected(bytes) else { return content == nil }
        return content.map { CanonicalValue.areEqual($0, stored) } ?? false
    }

    private func describe(_ value: Any?) -> String {
        value.map { "\(($0 as? Data).flatMap { try? PropertyListFile.decode($0).content } ?? $0)" } ?? "nothing"
    }
}
