@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit
import Testing
import WriteOperations

private let mark = "PersistentPreferences version"

/// Version 1 triples the number. Version 2 adds one and renames it.
private class MigratedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("amount")) var number = 0
    @Pref var free = 0
    @Pref var text = ""

    override class var migrations: [PrefsMigration] {
        [
            PrefsMigration(to: 1) { values in
                if let number = values["number"] as? Int { values["number"] = number * 3 }
            },
            PrefsMigration(to: 2) { values in
                if let number = values.removeValue(forKey: "number") as? Int { values["amount"] = number + 1 }
                values["gone"] = nil
                // A step cannot set the version.
                values[mark] = 77
            },
        ]
    }
}

/// A class without migrations on that root.
private final class UnversionedPrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { ["number", "amount", "free", mark] }
}

private final class DatedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var when = Date.distantPast

    override class var migrations: [PrefsMigration] { [PrefsMigration(to: 1) { _ in }] }
}

/// Notes what its steps get. Each of them stores versions.
private final class NotingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0

    static let seen = Locked<Set<String>>([])

    override class var versionKey: String { "own version" }

    override class var migrations: [PrefsMigration] {
        [1, 2, 4].map { version in
            PrefsMigration(to: version) { values in
                let keys = values.keys.sorted().joined(separator: ", ")
                seen.withLock { _ = $0.insert("\(version): \(keys)") }
                values["own version"] = 77
                values[mark] = 78
                values["step \(version)"] = true
            }
        }
    }
}

/// Counts the runs of its step by the text that is stored.
private final class CountingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var text = ""
    @Pref var number = 0

    private static let counts = Locked<[String: Int]>([:])

    static func runs(on text: String) -> Int { counts.withLock { $0[text] ?? 0 } }

    override class var migrations: [PrefsMigration] {
        [
            PrefsMigration(to: 1) { values in
                let text = values["text"] as? String ?? ""
                counts.withLock { $0[text, default: 0] += 1 }
                values["number"] = 5
            }
        ]
    }
}

@Suite struct MigrationTests {
    private func prefs(_ file: TypedFile) -> MigratedPrefs {
        MigratedPrefs(key: TypedFile.root, store: file.store)
    }

    /// Neither the stored one nor what an earlier step has stored in its place.
    @Test func noStepGetsAVersion() throws {
        let file = try TypedFile(["own version": 1, mark: 0, "number": 5])
        let prefs = NotingPrefs(key: TypedFile.root, store: file.store)
        #expect(prefs.number == 5)
        prefs.number = 6
        #expect(NotingPrefs.seen.withLock { $0 } == ["2: number", "4: number, step 2"])
        #expect(try file.stored == exactly(["number": 6, "own version": 4, "step 2": true, "step 4": true]))
    }

    @Test(arguments: [
        (stored: ["number": 5, "gone": 9, "kept": 8], number: 16), (["number": 5, mark: 0], 16),
        (["number": 5, mark: 1], 6), (["amount": 5, mark: 2], 5), (["number": 5, mark: 2], 5),
        (["number": 5, mark: 3], 5),
        (["number": 5, mark: 1_000_000], 5), (["kept": 8], 0),
    ])
    func readingMigratesInMemoryOnly(_ stored: [String: Int], _ number: Int) throws {
        let file = try TypedFile(stored)
        let prefs = prefs(file)
        let before = try (file.bytes, file.fileNumber)
        #expect(prefs.number == number && prefs["number"] as? Int == (number == 0 ? nil : number))
        #expect(prefs.ints == (number == 0 ? [:] : ["number": number]) && prefs.values.count == number.signum())
        #expect(prefs.$number.isStored == (number > 0))
        prefs.reload()
        // These writes change nothing.
        prefs.number = number
        if number > 0 { prefs["number"] = number }
        prefs.update {}
        prefs.update { _ in }
        prefs.update { #expect(prefs.number == number) }
        prefs.values = prefs.values
        prefs.$text.reset()
        if number == 0 { prefs.$number.reset() }
        #expect(prefs.outcome == "ok")
        if number > 0 { #expect(try file.bytes == before.0 && file.fileNumber == before.1) }

        prefs.free = 1
        let version = max(2, stored[mark] ?? 0)
        var expected = ["free": 1, mark: version]
        expected["number"] = number == 0 ? nil : number
        expected["kept"] = stored["kept"]
        #expect(prefs.outcome == "ok" && prefs.number == number)
        #expect(try file.stored == exactly(expected))
    }

    /// Each operation changes `free` alone.
    @Test(arguments: WriteOperation.of(.property, .instance).filter { $0.effect == .puts })
    func theFirstWriteCommitsTheMigration(_ operation: WriteOperation) async throws {
        let file = try TypedFile(["number": 5, "gone": 9, "kept": 8])
        let prefs = prefs(file)
        let target = WriteTarget(
            prefs, \.free, \.$free, to: 1, with: operation.keepsOtherKeys ? [:] : ["number": 16],
            create: { MigratedPrefs(key: TypedFile.root, values: $0, store: file.store) })
        #expect(await target.perform(operation) == nil && prefs.outcome == "ok")
        try expectMigrated(file, prefs)
    }

    @Test func aNestedUpdateCommitsTheMigration() throws {
        let file = try TypedFile(["number": 5, "gone": 9, "kept": 8])
        let prefs = prefs(file)
        let other = MigratedPrefs(key: "Other", store: file.store)
        let twin = self.prefs(file)
        other.update {
            other.free = 1
            prefs.update { values in
                values["free"] = 2
                // A write inside joins: it sees the root in the new shape, and the body's own change comes on top.
                twin.number += 1
                #expect(twin.number == 17 && prefs.number == 17)
                twin.number -= 1
            }
            twin.free -= 1
        }
        #expect(prefs.outcome == "ok")
        try expectMigrated(file, prefs)
    }

    private func expectMigrated(_ file: TypedFile, _ prefs: MigratedPrefs) throws {
        #expect(try file.stored == exactly(["number": 16, "free": 1, "kept": 8, mark: 2]))
        #expect(prefs.ints == ["number": 16, "free": 1])
        // The step runs once.
        prefs.text = "later"
        #expect(prefs.number == 16 && self.prefs(file).number == 16)
    }

    @Test func aNewRootStartsAtTheCurrentVersionWithoutAStep() throws {
        for start in [nil, [:]] as [[String: Any]?] {
            let file = try TypedFile(start)
            let prefs = prefs(file)
            prefs.number = 5
            #expect(try file.stored == exactly(["number": 5, mark: 2]))
            #expect(prefs.number == 5)
            prefs.resetAll()
            #expect(try file.stored == exactly([mark: 2]) && prefs.values.count == 0 && prefs.values.isEmpty)
            prefs.deleteRoot()
            #expect(try file.stored == "nothing")
            prefs.number = 6
            #expect(try file.stored == exactly(["number": 6, mark: 2]))
        }
    }

    @Test func aProgramWithoutMigrationsKeepsTheVersion() throws {
        let file = try TypedFile(["amount": 5, mark: 2])
        let prefs = UnversionedPrefs(key: TypedFile.root, store: file.store)
        #expect(prefs.ints == ["amount": 5] && prefs.values.count == 1)
        prefs["free"] = 1
        #expect(prefs.outcome == "ok")
        #expect(try file.stored == exactly(["amount": 5, "free": 1, mark: 2]))
        prefs.resetAll()
        #expect(try file.stored == exactly([mark: 2]))
    }

    @Test func noWritePathReachesTheVersion() throws {
        let file = try TypedFile(["number": 5, mark: 1])
        let bytes = try file.bytes
        for prefs in [prefs(file), UnversionedPrefs(key: TypedFile.root, store: file.store)] as [PersistentPrefs] {
            let refusal = "expected a key that @Pref declares or allowedKeys lists, found \"\(mark)\""
            let accesses: [() -> Void] = [
                { _ = prefs[mark] }, { prefs[mark] = 2 }, { prefs[mark] = nil }, { prefs.values[mark] = 2 },
                { prefs.values = [mark: 2] }, { prefs.update { $0[mark] = 2 } },
            ]
            for access in accesses {
                access()
                #expect(prefs.outcome == refusal)
            }
            #expect(prefs[mark] == nil && prefs.values[mark] == nil)
            #expect(try file.bytes == bytes)
        }
        #expect(MigratedPrefs(key: TypedFile.root, values: [mark: 2], store: file.store).lastError != nil)
        #expect(!prefs(file).allowedKeys.contains(mark))
        #expect(try file.bytes == bytes)
    }

    @Test func aStepRunsOncePerStoredState() throws {
        let text = UUID().uuidString
        let file = try TypedFile(["text": text])
        let prefs = CountingPrefs(key: TypedFile.root, store: file.store)
        for _ in 0..<10 {
            #expect(prefs.text == text && prefs.number == 5 && prefs.values.count == 2 && prefs.$number.isStored)
            prefs.text = text
        }
        #expect(CountingPrefs.runs(on: text) == 1)
        // A write of equal values by another program is a new state.
        try file.put(["text": text, "other": 1])
        for _ in 0..<10 { #expect(prefs.number == 5) }
        #expect(CountingPrefs.runs(on: text) == 2)
        prefs.number = 6
        let runs = CountingPrefs.runs(on: text)
        #expect(prefs.text == text && prefs.number == 6 && CountingPrefs.runs(on: text) == runs && runs <= 3)
        #expect(try file.stored == exactly(["text": text, "number": 6, "other": 1, mark: 1]))
    }

    /// What is a text in a store of exact values is a date in a file that people write.
    @Test func aStateOfAnotherFormIsNotTakenOver() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("c.json")
        try Data(#"{"when": "2026-11-23T10:00:00Z"}"#.utf8).write(to: file)
        let store = PrefsStore.memory()
        try store.update(root: "DatedPrefs") { $0 = ["when": "2026-11-23T10:00:00Z"] }
        let first = DatedPrefs(store: store)
        #expect(first.when == .distantPast)
        let second = DatedPrefs(store: .json(url: file))
        #expect(second.when == Date(timeIntervalSince1970: 1_795_428_000) && second.lastError == nil)
        #expect(first.when == .distantPast)
    }

    /// Of two roots, so that the newest state of the class is not enough.
    @Test func aNewInstanceRunsNoStepAgain() throws {
        let texts = [UUID().uuidString, UUID().uuidString]
        let store = PrefsStore.memory()
        for (number, text) in texts.enumerated() {
            try store.update(root: "Root\(number)") { $0 = ["text": text] }
        }
        for _ in 0..<10 {
            for (number, text) in texts.enumerated() {
                let prefs = CountingPrefs(key: "Root\(number)", store: store)
                #expect(prefs.text == text && prefs.number == 5)
            }
        }
        #expect(texts.map(CountingPrefs.runs) == [1, 1])
        // Another state, in which the same instance and a new one find other values.
        let last = CountingPrefs(key: "Root1", store: store)
        #expect(last.text == texts[1])
        try store.update(root: "Root1") { $0 = ["text": texts[0], "other": 1] }
        #expect(last.text == texts[0] && CountingPrefs(key: "Root1", store: store).text == texts[0])
        #expect(texts.map(CountingPrefs.runs) == [2, 1])
        // Another store with the root.
        let other = PrefsStore.memory()
        try other.update(root: "Root1") { $0 = ["text": texts[1]] }
        #expect(CountingPrefs(key: "Root1", store: other).text == texts[1] && last.text == texts[0])
    }
}
