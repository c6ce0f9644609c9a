import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

/// What a newcomer writes first: small programs that work as they read.
@Suite final class NewcomerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private enum Theme: String, CaseIterable { case light, dark }

    private struct Window: Codable, Equatable {
        var width = 800
        var title: String?
    }

    private final class AppPrefs: Prefs, @unchecked Sendable {
        @Pref(.in(8...72)) var fontSize = 12
        @Pref var theme = Theme.light
        @Pref(.length(1...5), .pattern("[a-z]+")) var name: String? = nil
        @Pref(.count(...2)) var recent: [String] = []
        @Pref var window = Window()
        @Pref(.must(be: "even") { $0.isMultiple(of: 2) }) var columns = 80
        @Pref("next id") var nextID = 1

        override var allowedKeys: [String] { super.allowedKeys + ["plugin"] }
    }

    private let prefs = AppPrefs(store: .memory())

    @Test func aValueIsStoredWhenItIsAssigned() {
        let url = folder.file("settings.json")
        AppPrefs(store: .json(url: url)).fontSize = 14
        #expect(AppPrefs(store: .json(url: url)).fontSize == 14)
        #expect((try? String(contentsOf: url, encoding: .utf8)) == "{\n  \"fontSize\": 14\n}\n")
    }

    @Test func aNumberIsTakenOnce() throws {
        #expect(
            try prefs.update {
                defer { prefs.nextID += 1 }; return prefs.nextID
            }.get() == 1)
        #expect(
            try prefs.update {
                defer { prefs.nextID += 1 }; return prefs.nextID
            }.get() == 2)
        #expect(prefs.values["next id"] as? Int == 3)
    }

    @Test func anUpdateSaysWhyItFailed() {
        guard case .failure(let error) = prefs.update({ (prefs.fontSize, prefs.theme) = (100, .dark) }) else {
            return #expect(Bool(false))
        }
        #expect("\(error)" == "fontSize: must be in 8...72" && prefs.theme == .light)
    }

    @Test func anUpdateOfTheDictionaryIsOneChange() async {
        let (prefs, changes) = (prefs, prefs.changes())
        await prefs.update { values in
            values["fontSize"] = 20
            values["plugin"] = ["a": 1]
        }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.keys == ["fontSize", "plugin"] && prefs.fontSize == 20)
    }

    @Test func theResultOfARemovalNeedsNoName() async {
        let prefs = prefs
        func removeNow() {
            prefs["plugin"] = 1
            prefs.update { $0.removeValue(forKey: "plugin") }
        }
        removeNow()
        #expect(prefs["plugin"] == nil)
        prefs["plugin"] = 2
        await prefs.update { $0.removeValue(forKey: "plugin") }
        #expect(prefs["plugin"] == nil && prefs.lastError == nil)
    }

    @Test func aKeyKnownAtRunTimeIsReadWithItsDefault() {
        #expect(prefs["fontSize"] == nil && prefs.effectiveValue(of: "fontSize") as? Int == 12)
        prefs["fontSize"] = 13
        #expect(prefs["fontSize"] as? Int == 13 && prefs.effectiveValue(of: "fontSize") as? Int == 13)
        #expect(Set(prefs.effectiveValues.keys) == ["fontSize", "theme", "recent", "window", "columns", "next id"])
    }

    @Test func aStructIsChangedInPlace() {
        prefs.window.title = "a"
        #expect(prefs.window == Window(width: 800, title: "a"))
        prefs.recent.append("x")
        prefs.recent += ["y"]
        prefs.recent.append("z")
        #expect(prefs.lastError?.problems.map(\.topLevelKey) == ["recent"])
        #expect(prefs.recent == ["x", "y"])
    }

    @Test func aFormShowsTheErrorsBesideTheirFields() {
        prefs.update { ($0["fontSize"], $0["name"], $0["columns"]) = (1, "AB", 3) }
        let errors = prefs.lastError?.problems.map { "\($0.topLevelKey): \($0.reason)" }
        #expect(
            errors == [
                "columns: must be even", "fontSize: must be in 8...72",
                "name: must be 1...5 characters long and of the form [a-z]+",
            ])
    }

    @Test func handlesAreValuesOfAList() {
        let sizes = [prefs.$fontSize, prefs.$columns, prefs.$nextID]
        #expect(Set(sizes).count == 3 && sizes.map(\.id) == sizes && Set(sizes + [prefs.$fontSize]).count == 3)
        prefs.columns = 90
        #expect(sizes.map(\.isStored) == [false, true, false])
        for size in sizes { size.reset() }
        #expect(prefs.columns == 80 && prefs.values.isEmpty)
    }

    @Test func eachDegreeOfRemovalHasItsVerb() {
        let store = PrefsStore.memory()
        let (prefs, other) = (AppPrefs(store: store), OtherPrefs(key: "AppPrefs", store: store))
        (prefs.fontSize, prefs.columns, prefs.nextID, other.secret) = (13, 90, 5, "s")
        #expect(prefs.reset("fontSize", "columns") == nil && prefs.values.keys.sorted() == ["next id"])
        #expect(prefs.resetAll() == nil && prefs.values.isEmpty && other.secret == "s")
        #expect(prefs.deleteRoot() == nil && other.secret == "")
    }

    private final class OtherPrefs: Prefs, @unchecked Sendable { @Pref var secret = "" }

    @Test func aTestHasAStoreOfItsOwn() async {
        let size = AppPrefs.withStore(.memory()) { () -> Int in
            let prefs = AppPrefs()
            prefs.fontSize = 33
            return AppPrefs().fontSize
        }
        #expect(size == 33)
    }

    @Test func aVariableWinsOverTheFile() {
        let url = folder.file("tool.json")
        let store = PrefsStore.layered(
            .json(url: url), above: [.environment(prefix: "TOOL_", in: ["TOOL_FONT_SIZE": "20"])])
        let prefs = AppPrefs(store: store)
        #expect(prefs.fontSize == 20 && prefs.$fontSize.source == .layer("environment"))
        prefs.fontSize = 21
        #expect(prefs.lastError?.problems.map(\.kind) == [.covered] && prefs.fontSize == 20)
    }

    @Test func changesArriveInTheirOrder() async {
        let (prefs, changes) = (prefs, prefs.changes(of: "fontSize", "theme"))
        prefs.columns = 90
        prefs.fontSize = 13
        prefs.theme = .dark
        var iterator = changes.makeAsyncIterator()
        let found = await [iterator.next()?.keys, iterator.next()?.keys]
        #expect(found == [["fontSize"], ["theme"]])
    }
}

/// What a newcomer writes that does not compile: the compiler says what to write.
@Suite struct NewcomerErrorTests {
    /// Each line is a function with an instance `p`.
    private static let lines: [(code: String, errors: [String])] = [
        ("p.clear()", ["'clear()' has been renamed to 'resetAll()'"]),
        ("p.deleteAll()", ["'deleteAll()' has been renamed to 'deleteRoot()'"]),
        ("p.remove(\"a\")", ["'remove' has been renamed to 'reset(_:_:)'"]),
        ("p.removeObject(forKey: \"a\")", ["'removeObject(forKey:)' has been renamed to 'reset(_:_:)'"]),
        ("p.flush()", ["'flush()' is unavailable: \(complete)"]),
        ("_ = p.synchronize()", ["'synchronize()' is unavailable: \(complete)"]),
        ("p.set(1, forKey: \"a\")", ["'set(_:forKey:)' is unavailable: assign the property, or prefs[\"key\"]"]),
        ("_ = p.count", ["'count' is unavailable: the number of stored values is values.count"]),
        (
            "_ = p.keys",
            ["'keys' has been renamed to 'allowedKeys': the keys of what is stored are values.keys"]
        ),
        (
            "let error: PrefsError? = p.update { p.a = 2 }; _ = error",
            ["cannot convert value of type 'Result<(), PrefsError>' to specified type 'PrefsError'"]
        ),
        (
            "let store: any PrefsStore = PrefsStore.memory(); _ = store",
            ["'any' has no effect on concrete type 'PrefsStore'"]
        ),
        ("func g() async { p.update { p.a = 2 } }", ["expression is 'async' but is not marked with 'await'"]),
        ("func g() async { p.$a.set(2) }", ["expression is 'async' but is not marked with 'await'"]),
        (
            "final class Q: Prefs, @unchecked Sendable { @Pref(.constraint(.in(1...2))) var b = 1 }",
            ["'constraint' is unavailable: a constraint is an option itself: @Pref(.in(1...9))"]
        ),
        (
            "final class Q: Prefs, @unchecked Sendable { @Pref(key: \"b\") var b = 1 }",
            ["'init(wrappedValue:key:_:)' is unavailable: give the key without a label: @Pref(\"key\")"]
        ),
        (
            "final class Q: Prefs, @unchecked Sendable { @Pref(default: 3) var b: Int }",
            ["'init(default:_:)' is unavailable: give the default as the initial value: @Pref var name = …"]
        ),
        (
            "final class Q: Prefs, @unchecked Sendable { @Pref(\"b\", default: 3) var b: Int }",
            ["'init(_:default:)' is unavailable: give the default as the initial value: @Pref(\"key\") var name = …"]
        ),
        // Valid: the value of an update, an error without a payload, a new case.
        ("_ = p.update { p.a }.map { $0 + 1 }", []),
        ("Task { await p.update { p.a += 1 }; await p.$a.set(3) }", []),
        ("switch p.lastError { case .busy?: break; case nil: break; default: break }", []),
    ]

    private static let complete = "reads are current, and each write is complete when it returns"

    @Test(.enabled(if: Compiler.canRun)) func theCompilerSaysWhatToWrite() throws {
        let preamble =
            "import PersistentPreferences; final class P: Prefs, @unchecked Sendable { @Pref var a = 1 }"
        let functions = Self.lines.enumerated().map { "func f\($0)(_ p: P) { \($1.code) }" }
        let found = try Compiler.errorsByLine(in: ([preamble] + functions).joined(separator: "\n"))
        for (number, line) in Self.lines.enumerated() {
            #expect(found[number + 2] ?? [] == line.errors, "\(line.code)")
        }
        #expect(found[1] == nil)
    }

    /// A `switch` that lists all cases of today is told of later ones.
    @Test(.enabled(if: Compiler.canRun)) func aSwitchOverErrorsNeedsACaseForLaterOnes() throws {
        let source = try String(
            contentsOf: DocumentationPage.package.appending(
                path: "Sources/PersistentPreferences/Errors/PrefsError.swift"), encoding: .utf8)
        let cases = source.matches(of: /\n    case ([a-zA-Z]+)/).map { ".\($0.output.1)" }.joined(separator: ", ")
        let found = try Compiler.errorsByLine(
            in: "import PersistentPreferences\nfunc f(_ e: PrefsError) { switch e { case \(cases): break } }")
        #expect(
            found == [
                2: [
                    "switch covers known cases, but 'PrefsError' may have additional unknown values, possibly added "
                        + "in future versions"
                ]
            ])
    }
}
