import Foundation
import PrefsStoreKit
import Testing
import TestSupport
import WriteOperations

@testable import PersistentPreferences
@testable import PrefsSupport

private final class LevelPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var name = "a"
    @Pref(.in(1...9)) var size = 1
    @Pref var level = 1
}

/// Calls a closure with each value that is checked. Used by one test.
private final class CheckedPrefs: PersistentPrefs, @unchecked Sendable {
    static let checked = Locked<(@Sendable (Int) -> Void)?>(nil)

    @Pref(
        .check { value in
            CheckedPrefs.checked.withLock { $0 }?(value)
            return value > 100 ? "must be at most 100" : nil
        }) var level = 1
}

extension PrefsError? {
    fileprivate var kind: String? { flatMap { Mirror(reflecting: $0).children.first?.label } }
}

/// Any storable value may replace what its property cannot read. A value that can be read is replaced only by one that
/// fits.
@Suite struct UnreadableValueTests {
    private let store = PrefsStore.memory()

    private func stored(_ key: String) throws -> Any? { try store.read(root: "Root")?[key] }

    private func put(_ values: [String: Any]) throws { try store.update(root: "Root") { $0 = values } }

    typealias Write = @Sendable (_ prefs: PersistentPrefs, _ key: String, _ value: Any) -> PrefsError?

    private static let writes: [(name: String, write: Write)] = [
        (
            "subscript",
            {
                $0[$1] = $2; return $0.lastError
            }
        ),
        ("update", { prefs, key, value in prefs.update { $0[key] = value }.failure }),
        ("nested", { prefs, key, value in prefs.update { prefs[key] = value }.failure }),
        (
            "merge",
            {
                $0.mergeValues([$1: $2]); return $0.lastError
            }
        ),
        (
            "values",
            {
                $0.values = [$1: $2]; return $0.lastError
            }
        ),
        (
            "in place",
            {
                $0.values[$1] = $2; return $0.lastError
            }
        ),
    ]

    @Test func everyWritePathFollowsTheRule() throws {
        for (name, write) in Self.writes {
            for (key, unreadable, unfit, fit) in [("name", 1, 2, "b"), ("size", 300, "x", 5)]
                as [(String, Any, Any, Any)]
            {
                try put([key: unreadable])
                let prefs = LevelPrefs(key: "Root", store: store)
                #expect(write(prefs, key, unfit) == nil, "\(name) \(key)")
                #expect(try "\(stored(key) ?? "")" == "\(unfit)", "\(name) \(key)")
                #expect(write(prefs, key, fit) == nil, "\(name) \(key)")
                #expect(write(prefs, key, unfit).kind == "typeMismatch", "\(name) \(key)")
                #expect(try "\(stored(key) ?? "")" == "\(fit)", "\(name) \(key)")
            }
        }
    }

    /// One key that cannot be read opens no other, and no other kind of mistake.
    @Test func onlyTheKeyItselfIsOpen() throws {
        try put(["name": 1, "size": 2])
        let prefs = LevelPrefs(key: "Root", store: store)
        #expect(prefs.update { ($0["name"], $0["size"]) = (2, 300) }.failure.kind == "constraintViolated")
        #expect(prefs.update { ($0["name"], $0["level"]) = (2, "x") }.failure.kind == "typeMismatch", "it has no value")
        prefs["name"] = NSObject()
        #expect(prefs.lastError.kind == "valuesNotPlistCompatible")
        #expect(try stored("name") as? Int == 1 && stored("size") as? Int == 2)
    }

    /// The value in the transaction counts.
    @Test func aValueThatBecomesReadableBeforeTheLockStays() throws {
        try put(["level": 300])
        let prefs = CheckedPrefs(key: "Root", store: store)
        let store = store
        CheckedPrefs.checked.withLock {
            $0 = { value in
                guard value == 300 else { return }
                CheckedPrefs.checked.withLock { $0 = nil }
                try? store.update(root: "Root") { $0?["level"] = 7 }
            }
        }
        prefs["level"] = "x"
        #expect(prefs.lastError?.description == "level: expected Int, found a string")
        #expect(try stored("level") as? Int == 7)
    }

    /// The same inside an update, whose own writes come first.
    @Test func aValueThatAnUpdateHasMadeReadableStays() throws {
        try put(["name": 1])
        let prefs = LevelPrefs(key: "Root", store: store)
        let error = prefs.update { values in
            prefs.name = "b"
            values["name"] = 2
        }.failure
        #expect(error.kind == "typeMismatch")
        #expect(try stored("name") as? Int == 1)
    }
}
