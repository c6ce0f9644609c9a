@testable import PrefsSupport
import Foundation
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsJSON

/// Runs cases in its own folder, one after the other, and compares everything with the expected outcome.
final class DamageRun {
    private let folder: TemporaryFolder
    private let goodBytes: Data
    private let format: FileFormat
    private(set) var tally = DamageTally()

    init(goodBytes: Data, format: FileFormat) throws {
        folder = try TemporaryFolder()
        self.format = format
        self.goodBytes = goodBytes
    }

    func run(_ cases: [DamageCase]) {
        tally.cases += cases.count
        for damage in cases {
            do {
                try run(damage)
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
        // What a person may have left malformed is not replaced; see MistakeTests.
        func make() -> AnyPrefs {
            AnyPrefs(
                store: .propertyList(url: file, format: format, quarantinesMistakes: true, system: system))
        }
        let prefs: AnyPrefs
        if let meeting = damage.meeting {
            // Uses the real clock, because the cache would otherwise treat new files as old and settled.
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

    /// Writes a file without Foundation, whose writer flushes, which would take most of the time.
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
        let expected = try Expectation(damage, goodBytes, in: folder)
        let quarantine = try folder.quarantined()
        // What was known of a file that was emptied, and that has no good copy, is kept by the first write.
        let isLost = damage.meeting != nil && damage.bytes.isEmpty && damage.lastGood != .good
        let lost = "was empty, and had values before"
        if isLost, damage.isWrite {
            expect(prefs.errors.count == 1 && prefs.errors[0].contains(lost), "told \(prefs.errors)")
            expect(prefs.outcome.contains(lost), "lastError is \(prefs.outcome)")
        } else {
            let told = expected.told(quarantine.first)
            expect(prefs.errors == told, "told \(prefs.errors) instead of \(told)")
            expect(prefs.outcome == told.last ?? "ok", "lastError is \(prefs.outcome)")
        }
        let names = try folder.names()
        if damage.isWrite {
            expect(!names.contains { $0.hasSuffix(".tmp") }, "a temporary file stays: \(names)")
        } else {
            expect(names == expected.namesBefore, "a read left \(names)")
        }
        let isQuarantined = damage.isWrite && expected.isReplaced
        try expect(
            isLost && damage.isWrite ? quarantine.count == 1 : holds(quarantine, isQuarantined ? expected.kept : nil),
            "quarantined is \(quarantine)")
        let bytes = try? Data(contentsOf: folder.file())
        var root = expected.known?["AnyPrefs"] as? [String: Any] ?? [:]
        func content() -> [String: Any] { (expected.known ?? [:]).merging(["AnyPrefs": root]) { $1 } }
        if !damage.isWrite || expected.writeError != nil {
            expect(bytes == damage.bytes, "the file's bytes were touched")
        } else {
            root["a"] = 5 as NSNumber
            expect(isContent(bytes, content()), "on disk is \(describe(bytes)) instead of \(describe(content()))")
        }

        // The next accesses read that state, and a write succeeds or is rejected for that reason.
        let isStillThere = !isQuarantined
        let visible = expected.isHidden ? [:] : root.filter { ["a", "b", "c"].contains($0.key) }
        expect(StoredValue.areEqual(prefs.values, visible), "in memory is \(prefs.values) instead of \(visible)")
        let readError = isStillThere ? expected.readError : nil
        expect(prefs.outcome == readError ?? "ok", "then lastError is \(prefs.outcome)")
        prefs["c"] = Data([7])
        let last = try folder.quarantined()
        let lastBytes = try? Data(contentsOf: folder.file())
        if let writeError = expected.writeError {
            expect(prefs.outcome == writeError, "then a write says \(prefs.outcome)")
            expect(lastBytes == damage.bytes, "then the file's bytes were touched")
            tally.rejected += 1
        } else {
            let warning = isStillThere && expected.isReplaced ? last.first.flatMap(expected.warning) : nil
            let isTold =
                isLost && !damage.isWrite ? prefs.outcome.contains(lost) : prefs.outcome == warning ?? "ok"
            expect(isTold, "then a write says \(prefs.outcome)")
            root["c"] = Data([7])
            expect(
                isContent(lastBytes, content()),
                "then on disk is \(describe(lastBytes)) instead of \(describe(content()))")
        }
        try expect(
            isLost ? last.count == 1 : holds(last, expected.isReplaced ? expected.kept : nil),
            "then quarantined is \(last)")
        if expected.isReplaced { tally.quarantined += 1 }
        if !damage.isWrite, expected.readError != nil { tally.left += 1 }
        let end = try folder.names().filter { !$0.hasPrefix("test.plist.corrupt-") }
        let most = [".test.plist.lastgood", ".test.plist.lock", "test.plist"]
        expect(Set(end).isSubset(of: most), "in the folder is \(end)")
        expect(system.doubleCloses == 0, "a descriptor was closed twice")
        if !flaws.isEmpty {
            tally.violations.append("\(damage): \(flaws.joined(separator: "; "))")
        }
    }

    /// Whether exactly these bytes are quarantined.
    private func holds(_ names: [String], _ bytes: Data?) throws -> Bool {
        try names.map { try Data(contentsOf: folder.file($0)) } == [bytes].compactMap { $0 }
    }

    /// The expected outcome of a case.
    private struct Expectation {
        /// The state that is read, and that a write starts from; nil if nothing is known.
        var known: [String: Any]?
        /// The error of each read; nil if it succeeds.
        var readError: String?
        /// The error of each write; nil if it succeeds.
        var writeError: String?
        /// Whether a write quarantines bytes: those of the file or, if it is empty, those of its copy.
        var isReplaced = false
        var kept: Data?
        /// Whether the existing root cannot be shown.
        var isHidden = false
        let namesBefore: [String]
        private let meeting: AccessKind?
        private let isWrite: Bool
        private let isEmpty: Bool
        private var report: MalformedFile?

        init(_ damage: DamageCase, _ goodBytes: Data, in folder: TemporaryFolder) throws {
            let path = folder.file().path
            meeting = damage.meeting
            isWrite = damage.isWrite
            isEmpty = damage.bytes.isEmpty
            // A write has replaced the copy since.
            let copy = damage.lastGood == .good ? goodBytes : Data(count: goodBytes.count)
            kept = isEmpty ? copy : damage.bytes
            namesBefore = (damage.lastGood == .absent ? [] : [".test.plist.lastgood"]) + ["test.plist"]
            switch damage.expected {
            case .excess(let reason):
                readError = "\(PrefsError.unreadable(StorageFailure(path: path, reason: reason)))"
                writeError = readError
            case .content(let content, _, let loss):
                known = content
                // Two keys have become equal, so the contents can be read but not written back.
                if let loss { writeError = "\(PrefsError.notStored(StorageFailure(path: path, reason: loss)))" }
            case .damage(let fault):
                // An empty file that this package has not written counts as missing.
                if damage.bytes.isEmpty, damage.lastGood == .absent { break }
                let state: MalformedFile.KnownState
                if damage.meeting != nil {
                    state = .lastKnown
                } else if damage.lastGood == .good {
                    let copy = try SystemCalls.real.status(
                        ofPath: folder.file(".test.plist.lastgood").path, followsLinks: false)
                    // A write has replaced the copy.
                    state = .lastGoodCopy(Date(timeIntervalSince1970: Double(copy?.modified.seconds ?? 0)))
                } else {
                    state = .nothing
                }
                if state != .nothing { known = DamageCase.goodContent }
                let emptied = PropertyListFault(reason: "is empty, and had values before")
                let report = MalformedFile(path: path, fault: isEmpty ? emptied : fault, state: state)
                self.report = report
                // A damaged copy does not show its format, so that the file may be one of another program.
                isReplaced = damage.lastGood == .good || damage.lastGood == .damaged && !damage.mayBeForeign
                readError = isReplaced ? "\(PrefsError.damaged(report))" : "\(PrefsError.notOurs(report))"
                if !isReplaced { writeError = readError }
            }
            if let root = known?["AnyPrefs"], !(root is [String: Any]) {
                readError = "\(PrefsError.rootIsNotDictionary(key: "AnyPrefs"))"
                writeError = readError
                isHidden = true
            }
        }

        /// The warning of a write that quarantined the bytes.
        func warning(_ name: String) -> String? {
            guard var report else { return nil }
            if isEmpty {
                let fault = PropertyListFault(reason: "was empty, and its last good copy was there")
                report = MalformedFile(path: report.path, fault: fault, state: report.state)
            }
            report.quarantinedAs = FileNames(path: report.path).path(of: name)
            return "\(PrefsError.quarantined(report))"
        }

        /// All expected errors of the case.
        func told(_ quarantine: String?) -> [String] {
            if isWrite {
                let told = [writeError ?? quarantine.flatMap(warning)].compactMap { $0 }
                // The access inside of an update meets a root that cannot be shown, and the update fails for it.
                if isHidden, case .write(let operation) = meeting, operation.isOfAccesses { return told + told }
                return told
            }
            let isEmpty = meeting == .flush && known?["AnyPrefs"] == nil && (readError == nil || report != nil)
            return [readError].compactMap { $0 }
                + (isEmpty ? ["\(PrefsError.noStoredPrefsForKey(key: "AnyPrefs"))"] : [])
        }
    }

    private func isContent(_ bytes: Data?, _ content: [String: Any]?) -> Bool {
        guard let bytes, case .content(let stored, _, _) = DamageCase.Expected(bytes, for: format) else {
            return content == nil
        }
        return content.map { StoredValue.areEqual($0, stored) } ?? false
    }

    private func describe(_ value: Any?) -> String {
        value.map { "\(($0 as? Data).flatMap { try? ContentCoder.decode($0, in: .all).content } ?? $0)" }
            ?? "nothing"
    }
}
