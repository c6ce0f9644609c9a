@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing

private let mark = "PersistentPreferences version"

private struct Trouble: Error, CustomStringConvertible {
    var description: String { "trouble" }
}

/// Its second step fails in the way that the data selects.
private final class FailingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 7
    @Pref(.formerly("former")) var renamed = 0

    override class var migrations: [PrefsMigration] {
        [
            PrefsMigration(to: 1) { $0["number"] = 1 },
            PrefsMigration(to: 2) { values in
                switch values["mode"] as? String {
                case "throws": throw Trouble()
                case "object": values["number"] = NSObject()
                case "nested": values["number"] = ["a": [Optional<Int>.none as Any]]
                case "not a number": values["number"] = Date(timeIntervalSinceReferenceDate: .nan)
                case "huge": values["number"] = Data(count: 5 << 20)
                default: values["number"] = 2
                }
            },
        ]
    }
}

@Suite struct MigrationFailureTests {
    private static let failures: [[String: any Sendable]] = [
        ["mode": "throws"], ["mode": "throws", "former": 3, mark: 1], ["mode": "object"], ["mode": "nested"],
        ["mode": "not a number"], ["mode": "huge"], [mark: "1", "number": 3], [mark: -1, "number": 3], [mark: 1.5],
        [mark: true], [mark: UInt64.max], [mark: Data()], [mark: ["a": 1]], [mark: Double.nan],
    ]

    @Test(arguments: failures)
    func theDataStaysAndNothingIsWritten(_ stored: [String: any Sendable]) throws {
        let file = try TypedFile(stored)
        let before = try (file.bytes, file.fileNumber)
        let prefs = FailingPrefs(key: TypedFile.root, store: file.store)
        func check(_ error: PrefsError?, line: Int = #line) {
            var version: Int?
            if case .migrationFailed(TypedFile.root, let found, _) = error { version = found }
            #expect(version == 2, "\(stored), line \(line): \(String(describing: error))")
        }
        check(prefs.lastError)
        let attempts: [() -> Void] = [
            { #expect(prefs.number == 7) }, { #expect(prefs.values.isEmpty) }, { #expect(prefs.values.count == 0) },
            { #expect(prefs["number"] == nil) }, { #expect(!prefs.$number.isStored && prefs.$number.isDefault) },
            { #expect(prefs.renamed == 0) }, { prefs.reload() }, { prefs.number = 1 }, { prefs["number"] = 1 },
            { prefs["number"] = nil }, { prefs.values = ["number": 1] }, { prefs.values["number"] = 1 },
            { prefs.$number.reset() }, { prefs.resetAll() }, { prefs.update { prefs.number = 1 } },
            { prefs.update { $0["number"] = 1 } },
        ]
        for attempt in attempts {
            attempt()
            check(prefs.lastError)
        }
        check(prefs.$number.set(1))
        check(prefs.update { $0 = [:] }.failure)
        check(FailingPrefs(key: TypedFile.root, values: ["number": 1], store: file.store).lastError)
        #expect(try file.bytes == before.0 && file.fileNumber == before.1)

        prefs.deleteRoot()
        #expect(prefs.outcome == "ok" && prefs.number == 7)
        prefs.number = 5
        #expect(try file.stored == exactly(["number": 5, mark: 2]))
    }

    @Test func theErrorSaysWhichStepAndWhy() throws {
        let file = try TypedFile(["mode": "throws"])
        let prefs = FailingPrefs(key: TypedFile.root, store: file.store)
        #expect(
            prefs.outcome == "\"Root\" could not be migrated to version 2: trouble; the stored state is unchanged")
        try file.put([mark: "secret"])
        _ = prefs.values
        #expect(
            prefs.outcome == "\"Root\" could not be migrated to version 2: "
                + "the version stored in the root is not a whole number; the stored state is unchanged")
    }

    @Test func aFailureRollsBackTheUpdateOfAnotherRoot() throws {
        let file = try TypedFile(["mode": "throws"])
        let prefs = FailingPrefs(key: TypedFile.root, store: file.store)
        let other = FailingPrefs(key: "Other", store: file.store)
        let bytes = try file.bytes
        let error = other.update {
            other.number = 1
            prefs.number = 1
        }.failure
        #expect(error.map { "\($0)" }?.hasPrefix("\"Root\" could not be migrated to version 2: trouble") == true)
        #expect(try file.bytes == bytes)
        #expect(other.number == 7)
        // Once the data is right, all is well.
        try file.put(["mode": "right"])
        #expect(prefs.number == 2 && prefs.outcome == "ok")
    }
}
