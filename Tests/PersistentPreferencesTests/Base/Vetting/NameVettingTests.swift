@testable import PrefsSupport
import PrefsStoreKit
import PrefsTestSet
import Testing
import WriteOperations

@testable import PersistentPreferences

/// Contract 10: a name that would be harmful, or would not be read back unchanged, is rejected.
@Suite struct NameVettingTests {
    private let store = PrefsStore.memory()

    @Test(arguments: Name.badRoots) func aBadRootKeyMakesEveryAccessFail(_ name: Name) throws {
        let prefs = PrefsTestSet(key: name.text, values: ["Integer Value": 1], store: store)
        #expect(prefs.outcome == name.message)
        #expect(prefs.key == name.text)
        expectEveryAccessFails(prefs, name)
        expectInvalidName(name) { try store.read(root: name.text) }
        expectInvalidName(name) { try store.update(root: name.text) { $0 = ["a": 1] } }
        expectInvalidName(name) { try store.observe(root: name.text) { _ in } }
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
        #expect(prefs.int == 10)
        prefs.key = name
        #expect(prefs.outcome == "ok")
        #expect(prefs.int == 1)
        #expect(try store.read(root: name)?.count == 1)
    }

    /// Uses only bad names, because a good name would create a file in the home of the user who runs the tests.
    @Test(arguments: Name.badSuites) func aBadSuiteMakesEveryAccessFail(_ name: Name) {
        let suite = PrefsStore.userDefaults(suite: name.text)
        #expect(suite.url == nil)
        expectInvalidName(name) { try suite.read(root: "root") }
        expectInvalidName(name) { try suite.update(root: "root") { $0 = ["a": 1] } }
        expectInvalidName(name) { try suite.observe(root: "root") { _ in } }
        let prefs = PrefsTestSet(key: "root", values: ["Integer Value": 1], store: suite)
        #expect(prefs.outcome == name.message)
        expectEveryAccessFails(prefs, name)
    }

    @Test(arguments: Name.badSuites) func aBadNameOfAProgramMakesEveryAccessFail(_ name: Name) {
        let message = name.message.replacing("suite name", with: "name of a program")
        let store = PrefsStore.propertyList(program: name.text)
        #expect(store.url == nil)
        #expect { try store.read(root: "root") } throws: { "\($0)" == message }
        #expect(PrefsTestSet(key: "root", store: store).outcome == message)
    }

    @Test(arguments: Name.goodSuites) func aGoodSuitePasses(_ name: String) {
        #expect(throws: Never.self) { try NameVetting.checkSuite(name) }
    }

    private func expectEveryAccessFails(_ prefs: PrefsTestSet, _ name: Name) {
        for access in AccessKind.allCases {
            #expect(!access.run(on: prefs, key: "Integer Value") && prefs.outcome == name.message, "\(access)")
        }
        prefs.reset()
        #expect(prefs.outcome == name.message)
    }

    private func expectInvalidName(_ name: Name, _ body: () throws -> some Any) {
        let error = #expect(throws: PrefsError.self) { _ = try body() }
        if case .invalidName(name.text, _)? = error {} else { Issue.record("another error: \(error as Any)") }
        #expect(error.map { "\($0)" } == name.message)
    }
}

private final class Renamed: PersistentPrefs, @unchecked Sendable {
    private let name: String

    init(to name: String, store: PrefsStore) {
        self.name = name
        super.init(key: "good", store: store)
    }

    override var key: String {
        get { name }
        set { super.key = newValue }
    }
    override var allowedKeys: [String] { ["a"] }
}
