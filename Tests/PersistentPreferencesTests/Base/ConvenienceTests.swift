import Foundation
import PersistentPreferences
import TestSupport
import Testing

private final class CounterPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var next = 1
    @Pref(.in(1...9)) var digit = 1
}

/// Updates that return a value, errors that can be compared, and instances that can be printed.
@Suite struct ConvenienceTests {
    private let prefs = CounterPrefs(key: "Root", store: InMemoryStore())

    @Test func anUpdateReturnsWhatItsBodyReturns() throws {
        let number = prefs.update { () -> Int in
            defer { prefs.next += 1 }
            return prefs.next
        }
        #expect(try number.get() == 1 && prefs.next == 2)
        let taken = prefs.update { values -> Int in
            values["next"] = 10
            return (values["next"] as? Int ?? 0) + 1
        }
        #expect(try taken.get() == 11 && prefs.next == 10)
        // The value of a single expression is not the value of the update.
        let error: PrefsError? = prefs.update { $0.removeValue(forKey: "next") }
        #expect(error == nil)
    }

    @Test func aFailureReturnsItsErrorAndNoValue() {
        let result = prefs.update { values -> Int in
            values["digit"] = 10
            return 5
        }
        let failure = PropertyListFailure(path: "digit", topLevelKey: "digit", reason: "must be in 1...9")
        #expect(result == .failure(.constraintViolated([failure])))
        #expect(prefs.lastError == .constraintViolated([failure]) && prefs.digit == 1)
        prefs["next"] = Date.self
        #expect(prefs.lastError == .valuesNotPlistCompatible(invalidElements: ["next"]))
    }

    /// A store that breaks its contract.
    private final class LazyStore: PrefsStore {
        func read(root: String) -> [String: Any]? { nil }
        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) {}
    }

    @Test func aStoreThatDoesNotRunTheBodyIsAnErrorAndNotACrash() {
        let prefs = CounterPrefs(key: "Root", store: LazyStore())
        let result = prefs.update { () -> Int in
            prefs.next += 1
            return prefs.next
        }
        #expect(result == .failure(.unknownError(error: nil)))
    }

    @Test func printingShowsTheValues() {
        #expect("\(prefs)" == "CounterPrefs(\"Root\") is empty")
        (prefs.next, prefs.digit) = (5, 2)
        prefs.digit = 10
        #expect("\(prefs)" == "CounterPrefs(\"Root\") {digit: 2, next: 5}")
        #expect(prefs.lastError != nil, "printing leaves it alone")
        var dumped = ""
        dump(prefs, to: &dumped)
        #expect(dumped.contains("\"next\"") && dumped.contains("default: 1") && dumped.contains("\"Root\""))
        for word in ["Lock", "lock", "mutex", "pthread", "bridge"] { #expect(!dumped.contains(word), "\(dumped)") }
    }

    @Test func printingAnInstanceThatCannotBeReadSaysSo() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: true)
        let prefs = CounterPrefs(key: "Root", store: PropertyListFileStore(url: folder.file()))
        #expect("\(prefs)".hasPrefix("CounterPrefs(\"Root\") cannot be read: "))
        var dumped = ""
        dump(prefs, to: &dumped)
        #expect(dumped.contains("unreadable"))
    }
}
