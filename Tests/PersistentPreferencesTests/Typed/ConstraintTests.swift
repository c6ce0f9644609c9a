@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing
import WriteOperations

private enum Level: String, CaseIterable { case low, middle, high }

private struct Style: Codable, Equatable {
    var name = "none"
    var weight = 400
}

private final class LimitedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12
    @Pref("Ratio", .in(0.0...1)) var ratio = 0.5
    @Pref(.in([Level.low, .high])) var level = Level.low
    @Pref(.in(1...9)) var digit: Int? = nil
    @Pref(.check { $0.isEmpty ? "must not be empty" : nil }) var name = "nobody"
    @Pref(.check { $0.count > 2 ? "must have two elements at most" : nil }) var list: [Int] = []
    // Without a constraint, the types are enough.
    @Pref var free = 0
    @Pref var style = Style()
    @Pref var note: String? = nil
}

/// `ConstraintKindTests` has the other kinds of constraints.
@Suite struct ConstraintTests {
    /// Values that the constraint of the property rejects, or that are of another type. A reason may begin with a path.
    private static let bad: [(key: String, value: any Sendable, reason: String)] = [
        ("size", 73, "must be in 8...72"), ("size", 7, "must be in 8...72"),
        ("size", Int.max, "must be in 8...72"), ("size", 72.5, "expected Int, found a real number"),
        ("size", "12", "expected Int, found a string"), ("free", "3", "expected Int, found a string"),
        ("Ratio", "3", "expected Double, found a string"), ("Ratio", true, "expected Double, found a Boolean"),
        ("note", 5, "expected String, found an integer"),
        ("style", ["name": 4, "weight": 1] as [String: any Sendable], ".name: expected String, found an integer"),
        ("list", [1, "a"] as [any Sendable], "[1]: expected Int, found a string"),
        ("Ratio", 1.0000001, "must be in 0.0...1.0"), ("Ratio", -0.1, "must be in 0.0...1.0"),
        ("Ratio", Double.nan, "must be in 0.0...1.0"), ("Ratio", Double.infinity, "must be in 0.0...1.0"),
        ("level", "middle", "must be one of low, high"),
        ("level", "other", "expected one of low, middle, high, found an unknown raw value"),
        ("digit", 10, "must be in 1...9"), ("name", "", "must not be empty"),
        ("list", [1, 2, 3], "must have two elements at most"),
    ]

    private func store(
        _ value: Any, under key: String, of prefs: LimitedPrefs, in file: TypedFile, by operation: WriteOperation
    ) async -> PrefsError? {
        await WriteTarget(
            prefs, key: key, with: ["free": 5],
            create: { LimitedPrefs(key: TypedFile.root, values: $0, store: file.store) }, to: { value }
        ).perform(operation)
    }

    @Test(arguments: WriteOperation.untyped)
    func aBadValueIsRejectedByEveryOperation(_ operation: WriteOperation) async throws {
        let file = try TypedFile(["free": 1, "size": 20])
        let prefs = LimitedPrefs(key: TypedFile.root, store: file.store)
        let before = try (file.bytes, file.fileNumber)
        for (key, value, reason) in Self.bad {
            let error = await store(value, under: key, of: prefs, in: file, by: operation)
            let kind = reason.contains("expected") ? PrefsError.typeMismatch : PrefsError.constraintViolated
            let failures = try #require(error?.detail(of: kind), "\(key) = \(value): \(error as Any)")
            let message = [".", "["].contains(reason.first) ? "\(key)\(reason)" : "\(key): \(reason)"
            #expect(failures.map(\.description) == [message])
            #expect(failures.map(\.topLevelKey) == [key])
            #expect(try file.bytes == before.0 && file.fileNumber == before.1, "\(key) = \(value)")
        }
        #expect(prefs.size == 20 && prefs.free == 1)
    }

    @Test(arguments: WriteOperation.untyped)
    func aGoodValuePassesEveryOperation(_ operation: WriteOperation) async throws {
        let file = try TypedFile()
        // An import stores the form of the type.
        let isImport = [.importedJSON, .importedXML, .importedBinary, .importedWhole].contains(operation)
        let good: [(String, Any, imported: Any?)] = [
            ("size", 8, nil), ("size", 72, nil), ("size", 40.0, 40), ("Ratio", 1, 1.0), ("Ratio", 0.0, nil),
            ("level", "high", nil), ("digit", 9, nil), ("name", " ", nil), ("list", [1, 2], nil),
            ("style", ["name": "a", "weight": 1] as [String: Any], nil),
            ("note", "x", nil),
        ]
        for (key, value, imported) in good {
            let prefs = LimitedPrefs(key: TypedFile.root, store: file.store)
            let error = await store(value, under: key, of: prefs, in: file, by: operation)
            #expect(error == nil, "\(key) = \(value)")
            let found = exactForm([key: prefs[key] ?? "nothing"] as [String: Any])
            let wanted = try exactly([key: isImport ? imported ?? value : value])
            #expect(found == wanted)
        }
    }

    @Test func aTypedWriteIsCheckedToo() throws {
        let file = try TypedFile(["free": 1])
        let prefs = LimitedPrefs(key: TypedFile.root, store: file.store)
        let bytes = try file.bytes
        let attempts: [(String, () -> PrefsError?)] = [
            ("size: must be in 8...72", { prefs.$size.set(73) }),
            ("Ratio: must be in 0.0...1.0", { prefs.$ratio.set(.nan) }),
            ("level: must be one of low, high", { prefs.$level.set(.middle) }),
            ("digit: must be in 1...9", { prefs.$digit.set(0) }),
            ("name: must not be empty", { prefs.$name.set("") }),
            ("list: must have two elements at most", { prefs.$list.set([1, 2, 3]) }),
            ("size: must be in 8...72", { prefs.update { prefs.size += 100 }.failure }),
        ]
        for (message, attempt) in attempts {
            #expect(attempt().map { "\($0)" } == message)
            #expect(prefs.outcome == message)
        }
        #expect(try file.bytes == bytes)
        prefs.size = 72
        prefs.digit = 1
        prefs.digit = nil
        prefs.level = .high
        #expect(prefs.outcome == "ok")
        #expect(try file.stored == exactly(["free": 1, "size": 72, "level": "high"]))
    }

    @Test func everyOffenderIsNamed() {
        let prefs = LimitedPrefs(store: .memory())
        prefs.values = ["name": "", "size": 1, "free": 3, "digit": 0]
        #expect(prefs.outcome == "digit: must be in 1...9\nname: must not be empty\nsize: must be in 8...72")
        #expect(prefs.values.count == 0)
    }

    @Test func aStoredValueThatDoesNotFitReadsAsTheDefaultAndIsKept() throws {
        let stored: [String: Any] = [
            "size": 4711, "Ratio": 2.5, "level": "middle", "digit": 99, "name": "", "list": [1, 2, 3],
            "style": ["name": "a", "weight": 2.5] as [String: Any], "note": Data([1]),
        ]
        let file = try TypedFile(stored)
        let prefs = LimitedPrefs(key: TypedFile.root, store: file.store)
        let bytes = try file.bytes
        let reads: [(String, () -> Bool)] = [
            ("size: must be in 8...72", { prefs.size == 12 && prefs.$size.isDefault }),
            ("Ratio: must be in 0.0...1.0", { prefs.ratio == 0.5 }),
            ("level: must be one of low, high", { prefs.level == .low }),
            ("digit: must be in 1...9", { prefs.digit == nil }),
            ("name: must not be empty", { prefs.name == "nobody" }),
            ("list: must have two elements at most", { prefs.list.isEmpty }),
            ("style.weight: expected Int, found a real number", { prefs.style == Style() }),
            ("note: expected String, found data", { prefs.note == nil && prefs.$note.isDefault }),
        ]
        for (message, isDefault) in reads {
            #expect(isDefault(), "\(message)")
            #expect(prefs.outcome == message)
        }
        #expect(prefs.$size.isStored && prefs.$note.isStored && prefs["size"] as? Int == 4711)
        #expect(try file.bytes == bytes)
        // A bad value does not block writes of other keys.
        prefs.free = 1
        prefs.values["free"] = 2
        prefs.update { $0["size"] = 20 }
        #expect(prefs.outcome == "ok")
        #expect(try file.stored == exactly(stored.merging(["free": 2, "size": 20]) { $1 }))
        prefs["size"] = nil
        #expect(prefs.size == 12 && prefs.outcome == "ok")
    }
}
