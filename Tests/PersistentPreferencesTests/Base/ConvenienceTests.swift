@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import TestSupport
import Testing

/// Updates that return a value, errors that can be compared, and instances that can be printed.
@Suite struct ConvenienceTests {
    private let prefs = TickPrefs(key: "Root", store: .memory())

    @Test func anUpdateReturnsWhatItsBodyReturns() throws {
        let number = prefs.update { () -> Int in
            defer { prefs.ticks += 1 }
            return prefs.ticks + 7
        }
        #expect(try number.get() == 7 && prefs.ticks == 1)
        let taken = prefs.update { values -> Int in
            values["ticks"] = 10
            return (values["ticks"] as? Int ?? 0) + 1
        }
        #expect(try taken.get() == 11 && prefs.ticks == 10)
        #expect(try prefs.update { $0.removeValue(forKey: "ticks") }.get() as? Int == 10, "of a single expression")
        #expect(try prefs.update { _ in }.get() == (), "of a body without a value")
    }

    /// An empty root, too; one with keys of other versions stays.
    @Test(arguments: [[:], ["other": 1], ["other": 1, "ticks": 2], ["ticks": 2]] as [[String: Int]])
    func resetAllRemovesARootThatHasNothingElse(_ stored: [String: Int]) throws {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = stored }
        #expect(TickPrefs(key: "Root", store: store).resetAll() == nil)
        #expect(try store.read(root: "Root") as? [String: Int] == (stored["other"] == nil ? nil : ["other": 1]))
    }

    @Test func aFailureReturnsItsErrorAndNoValue() {
        let result = prefs.update { values -> Int in
            values["digit"] = 10
            return 5
        }
        let failure = PropertyListFailure(path: "digit", topLevelKey: "digit", reason: "must be in 0...9")
        #expect(result == .failure(.violation(of: [failure])))
        #expect(prefs.lastError == .violation(of: [failure]) && prefs.digit == 0)
        prefs["ticks"] = Date.self
        #expect(prefs.lastError == .valuesNotPlistCompatible(invalidElements: ["ticks"]))
    }

    /// A backend that breaks its contract.
    private final class LazyBackend: PrefsBackend {
        func read(root: String) -> [String: Any]? { nil }
        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) {}
    }

    @Test func aStoreThatDoesNotRunTheBodyIsAnErrorAndNotACrash() {
        let prefs = TickPrefs(key: "Root", store: LazyBackend().store)
        let result = prefs.update { () -> Int in
            prefs.ticks += 1
            return prefs.ticks
        }
        #expect(result == .failure(.unknownError(error: nil)))
    }

    @Test func printingShowsTheValues() {
        #expect("\(prefs)" == "TickPrefs(\"Root\") is empty")
        (prefs.ticks, prefs.digit) = (5, 2)
        prefs.digit = 10
        #expect("\(prefs)" == "TickPrefs(\"Root\") {digit: 2, ticks: 5}")
        #expect(prefs.lastError != nil, "printing leaves it alone")
        var dumped = ""
        dump(prefs, to: &dumped)
        #expect(dumped.contains("\"ticks\"") && dumped.contains("default: 0") && dumped.contains("\"Root\""))
        for word in ["Lock", "lock", "mutex", "pthread", "bridge"] { #expect(!dumped.contains(word), "\(dumped)") }
    }

    @Test func printingAnInstanceThatCannotBeReadSaysSo() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: true)
        let prefs = TickPrefs(key: "Root", store: .propertyList(url: folder.file()))
        #expect("\(prefs)".hasPrefix("TickPrefs(\"Root\") cannot be read: "))
        var dumped = ""
        dump(prefs, to: &dumped)
        #expect(dumped.contains("unreadable"))
    }
}
