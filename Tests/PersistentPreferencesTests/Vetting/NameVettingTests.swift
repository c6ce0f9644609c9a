import Foundation
import PrefsTestSet
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

/// Contract 10: a name that would be harmful, or would not come back, is refused.
@Suite struct NameVettingTests {
    private let store = InMemoryStore()

    @Test(arguments: Name.badRoots) func aBadRootKeyMakesEveryAccessFail(_ name: Name) throws {
        let prefs = PrefsTestSet(key: name.text, values: ["Integer Value": 1], store: store)
        #expect(prefs.outcome == name.message)
        #expect(prefs.key == name.text)
        for access in Access.allCases {
            access.run(on: prefs)
            #expect(prefs.outcome == name.message, "\(access)")
        }
        expectInvalidName(name) { try store.read(root: name.text) }
        expectInvalidName(name) { try store.update(root: name.text) { $0 = ["a": 1] } }
    }

    @Test(arguments: Name.badRoots) func aBadRootKeyIsNotAssigned(_ name: Name) {
        let prefs = PrefsTestSet(key: "good", values: ["Integer Value": 1], store: store)
        prefs.key = name.text
        #expect(prefs.outcome == name.message)
        #expect(prefs.key == "good")
        #expect(prefs.int == 1)
        #expect(prefs.outcome == "ok")
    }

    @Test(arguments: Name.badRoots) func aBadRootKeyOfAnOverrideIsRejected(_ name: Name) throws {
        let prefs = Renamed(to: name.text, store: store)
        #expect(prefs.outcome == name.message)
        prefs["a"] = 1
        #expect(prefs.outcome == name.message)
        #expect(try store.read(root: "good") == nil)
    }

    @Test(arguments: Name.goodRoots) func aGoodRootKeyIsUsedAsItIs(_ name: String) throws {
        let prefs = PrefsTestSet(key: name, values: ["Integer Value": 1], store: store)
        #expect(prefs.outcome == "ok")
        prefs.key = "other"
        #expect(prefs.int == 0)
        prefs.key = name
        #expect(prefs.outcome == "ok")
        #expect(prefs.int == 1)
        #expect(try store.read(root: name)?.count == 1)
    }

    @Test func theErrorCarriesNameAndReason() throws {
        let error = try #require(PrefsTestSet(key: "", values: nil, store: store).lastError)
        guard case .invalidName(let name, let reason) = error else { throw error }
        #expect(name == "")
        #expect(reason == "is not a valid root key: it is empty")
    }

    /// Bad names only: a good one would be a file in the home of whoever runs the tests.
    @Test(arguments: Name.badSuites) func aBadSuiteMakesEveryAccessFail(_ name: Name) {
        let suite = UserDefaultsStore(suiteName: name.text)
        #expect(suite.fileURL == nil)
        expectInvalidName(name) { try suite.read(root: "root") }
        expectInvalidName(name) { try suite.update(root: "root") { $0 = ["a": 1] } }
        let prefs = PrefsTestSet(key: "root", values: ["Integer Value": 1], store: suite)
        #expect(prefs.outcome == name.message)
        for access in Access.allCases {
            access.run(on: prefs)
            #expect(prefs.outcome == name.message, "\(access)")
        }
    }

    @Test(arguments: Name.goodSuites) func aGoodSuitePasses(_ name: String) {
        #expect(throws: Never.self) { try NameVetting.checkSuite(name) }
    }

    private func expectInvalidName(_ name: Name, _ body: () throws -> some Any) {
        let error = #expect(throws: PrefsError.self) { _ = try body() }
        guard case .invalidName(name.text, _)? = error else {
            Issue.record("another error")
            return
        }
        #expect(error.map { "\($0)" } == name.message)
    }

    private enum Access: CaseIterable {
        case values, element, count, assignment, elementAssignment, inPlace, update, flush, clear, deleteAll, reset

        func run(on prefs: PrefsTestSet) {
            switch self {
            case .values: #expect(prefs.values.isEmpty)
            case .element: #expect(prefs["Integer Value"] == nil)
            case .count: #expect(prefs.count == 0)
            case .assignment: prefs.values = ["Integer Value": 1]
            case .elementAssignment: prefs["Integer Value"] = 1
            case .inPlace: prefs.values["Integer Value"] = 1
            case .update: #expect(prefs.update { $0["Integer Value"] = 1 } != nil)
            case .flush: prefs.flush()
            case .clear: prefs.clear()
            case .deleteAll: prefs.deleteAll()
            case .reset: prefs.reset()
            }
        }
    }
}

/// A name that is refused, and the words for it.
struct Name: Sendable, CustomTestStringConvertible {
    let text: String
    let message: String

    var testDescription: String { "\(text.prefix(20).debugDescription), \(text.utf8.count) bytes" }

    private init(_ text: String, _ kind: String, _ flaw: String) {
        self.text = text
        message = "\"\(ShownText.key(text))\" is not a valid \(kind): \(flaw)"
    }

    static let badRoots = bad("root key", longest: 1_024)

    static let goodRoots = [
        "a", " ", ".", "..", "/", "../../a", "/a/b", ".hidden", "é", "e\u{301}", "\u{1F600}", "a\u{FEFF}", "\n",
        "a\u{1}",
        "\u{FEFE}", String(repeating: "x", count: 1_024), String(repeating: "é", count: 512),
    ]

    static let badSuites =
        bad("suite name", longest: 200)
        + ["/", "a/b", "../../evil", "/tmp/evil", "a/"].map { Name($0, "suite name", "it contains a /") }
        + [".", "..", ".hidden"].map { Name($0, "suite name", "it begins with a dot") }

    static let goodSuites = [
        "a", "com.example.app", "a..", "a b", "é", "a\u{FEFF}", "group.com.example", String(repeating: "x", count: 200),
        String(repeating: "é", count: 100),
    ]

    private static func bad(_ kind: String, longest: Int) -> [Name] {
        [
            Name("", kind, "it is empty"), Name("\u{0}", kind, "it contains a NUL"),
            Name("a\u{0}b", kind, "it contains a NUL"),
            Name("\u{FEFF}", kind, "it begins with U+FEFF"), Name("\u{FEFF}a", kind, "it begins with U+FEFF"),
            Name(String(repeating: "x", count: longest + 1), kind, "it is longer than \(longest) bytes"),
            Name(String(repeating: "é", count: longest / 2) + "x", kind, "it is longer than \(longest) bytes"),
            Name(String(repeating: "\u{1F600}", count: longest / 4 + 1), kind, "it is longer than \(longest) bytes"),
        ]
    }
}

private final class Renamed: PersistentPrefs, @unchecked Sendable {
    private let name: String

    init(to name: String, store: any PrefsStore) {
        self.name = name
        super.init(key: "good", store: store)
    }

    override var key: String {
        get { name }
        set { super.key = newValue }
    }
    override var keys: [String] { ["a"] }
}
