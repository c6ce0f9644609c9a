@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit
import TestSupport
import Testing

private enum Mood: String, CaseIterable { case calm, loud }

private struct Frame: Codable {
    var width = 80
    var title: String?
    var height = 24
}

private final class EffectPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(1...9)) var level = 3
    @Pref var ratio = 0.5
    @Pref var name: String?
    @Pref var limit: Int? = 7
    @Pref var mood = Mood.calm
    @Pref var frame = Frame()
    @Pref("by key", .sensitive) var token = "none"
    @Pref var since = Date(timeIntervalSinceReferenceDate: 0)

    /// Have no declaration.
    override var allowedKeys: [String] { ["free", "empty"] }

    nonisolated(unsafe) var errors: [String] = []
    override func prefsDidFail(_ error: PrefsError) { errors.append("\(error)") }

    static var defaults: [String: Any] {
        [
            "level": 3, "ratio": 0.5, "limit": 7, "mood": "calm", "frame": ["width": 80, "height": 24],
            "by key": "none", "since": Date(timeIntervalSinceReferenceDate: 0),
        ]
    }

    static func defaults(with others: [String: Any]) -> [String: Any] { defaults.merging(others) { $1 } }
}

/// `effectiveValues` has what a program reads, by key and as property-list objects.
@Suite struct EffectiveValuesTests {
    private let store = PrefsStore.memory()
    private let prefs: EffectPrefs

    init() { prefs = EffectPrefs(key: TypedFile.root, store: store) }

    private func put(_ values: [String: Any]) throws { try store.update(root: TypedFile.root) { $0 = values } }

    private func single(_ prefs: EffectPrefs) throws -> String {
        let keys = ["level", "ratio", "name", "limit", "mood", "frame", "by key", "since", "free", "empty"]
        let pairs = keys.compactMap { key in prefs.effectiveValue(of: key).map { (key, $0) } }
        return try exactly(Dictionary(uniqueKeysWithValues: pairs))
    }

    /// In a store without revisions, too.
    @Test func aValueThatFitsAgainEndsItsFault() throws {
        let prefs = EffectPrefs(key: TypedFile.root, store: ForeignBackend(store).store)
        let told = Locked<[String]>([])
        let errors = prefs.onError { error in told.withLock { $0.append("\(error)") } }
        defer { errors.cancel() }
        for level in ["x", 3, "y"] as [Any] {
            try put(["level": level])
            _ = prefs.effectiveValue(of: "level")
            _ = prefs.effectiveValues
        }
        #expect(told.withLock { $0 } == Array(repeating: "level: expected Int, found a string", count: 2))
    }

    @Test func withoutStoredValuesTheyAreTheDefaults() throws {
        #expect(try exactly(prefs.effectiveValues) == exactly(EffectPrefs.defaults))
        #expect(try single(prefs) == exactly(EffectPrefs.defaults))
        #expect(prefs.values.isEmpty && prefs.lastError == nil)
    }

    @Test func storedValuesReplaceDefaults() throws {
        prefs.level = 5
        prefs.name = "n"
        prefs.mood = .loud
        prefs.frame.title = "t"
        prefs.token = "secret"
        prefs["free"] = [1, 2.5]
        let expected = EffectPrefs.defaults(with: [
            "level": 5, "name": "n", "mood": "loud", "frame": ["width": 80, "height": 24, "title": "t"],
            "by key": "secret", "free": [1, 2.5],
        ])
        #expect(try exactly(prefs.effectiveValues) == exactly(expected))
        #expect(try single(prefs) == exactly(expected))
        #expect(prefs.lastError == nil && prefs.errors == [])
        prefs.resetAll()
        #expect(try exactly(prefs.effectiveValues) == exactly(EffectPrefs.defaults))
    }

    @Test func aFieldThatAStoredStructLacksHasItsDefault() throws {
        try put(["frame": ["width": 100, "later": true]])
        let expected = EffectPrefs.defaults(with: ["frame": ["width": 100, "height": 24]])
        #expect(try exactly(prefs.effectiveValues) == exactly(expected))
        #expect(try single(prefs) == exactly(expected))
    }

    @Test func aValueThatDoesNotFitIsItsDefault() throws {
        try put(["level": 20, "ratio": "x", "frame": ["width": "wide"], "mood": "odd", "free": "ok"])
        let expected = EffectPrefs.defaults(with: ["free": "ok"])
        #expect(try exactly(prefs.effectiveValues) == exactly(expected))
        #expect(prefs.lastError.map { "\($0)" } == "level: must be in 1...9")
        let errors = [
            "frame.width: expected Int, found a string", "level: must be in 1...9",
            "mood: expected one of calm, loud, found an unknown raw value", "ratio: expected Double, found a string",
        ]
        #expect(prefs.errors.sorted() == errors)
        // Each read of the same state meets the errors that were told.
        _ = (prefs.level, prefs.ratio, prefs.frame, prefs.mood, prefs.effectiveValues)
        #expect(prefs.errors.count == 4)
        let other = EffectPrefs(key: TypedFile.root, store: store)
        #expect(try single(other) == exactly(expected))
        #expect(other.errors.sorted() == errors)
        _ = other.effectiveValue(of: "ratio")
        #expect(other.lastError.map { "\($0)" } == "ratio: expected Double, found a string")
        _ = other.effectiveValue(of: "free")
        #expect(other.lastError == nil)
    }

    @Test func aKeyThatIsNotAllowedIsRejected() throws {
        try put(["other": 1, "level": 4])
        #expect(try exactly(prefs.effectiveValues) == exactly(EffectPrefs.defaults(with: ["level": 4])))
        #expect(prefs.lastError == nil)
        #expect(prefs.effectiveValue(of: "other") == nil)
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["other"]))
    }

    @Test func aRootThatCannotBeReadHasTheDefaults() throws {
        let file = try TypedFile()
        try writePropertyList([TypedFile.root: [1]], to: file.folder.file())
        let prefs = EffectPrefs(key: TypedFile.root, store: file.store)
        for read in [{ try exactly(prefs.effectiveValues) }, { try single(prefs) }] as [() throws -> String] {
            prefs.lastError = nil
            #expect(try read() == exactly(EffectPrefs.defaults))
            #expect(prefs.lastError == .rootIsNotDictionary(key: TypedFile.root))
        }
    }

    @Test func valuesThatAPersonHasWrittenHaveTheFormOfTheirProperties() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("config.json")
        try Data(#"{"since": "2026-11-21T10:00:00Z", "ratio": 2, "limit": null, "free": null}"#.utf8).write(to: url)
        let prefs = EffectPrefs(store: .json(url: url))
        var expected = EffectPrefs.defaults(with: ["since": Date(timeIntervalSince1970: 1_795_255_200), "ratio": 2.0])
        expected["limit"] = nil
        #expect(try exactly(prefs.effectiveValues) == exactly(expected))
        #expect(try single(prefs) == exactly(expected))
        #expect(prefs.lastError == nil)
    }

    @Test func theyAreOfOneState() throws {
        prefs.level = 5
        let other = EffectPrefs(key: TypedFile.root, store: store)
        prefs.update {
            other.level = 6
            #expect(prefs.effectiveValues["level"] as? Int == 6)
            $0["level"] = 7
        }
        prefs.read {
            inThreads(1) { _ in other.level = 8 }
            #expect(prefs.effectiveValues["level"] as? Int == 7 && prefs.effectiveValue(of: "level") as? Int == 7)
        }
        #expect(prefs.effectiveValues["level"] as? Int == 8)
    }
}
