import PersistentPreferences
import Testing
import TestSupport

@testable import PrefsTool
import PrefsJSON

/// The preferences of a program, with a Codable struct that has another one inside.
private final class WindowPrefs: Prefs, @unchecked Sendable {
    struct Size: Codable, Equatable { var width = 600.0, height = 400 }
    struct Window: Codable, Equatable { var title = "Main", size = Size(), isFull = false, tags = ["a"] }

    @Pref(.help("The main window.")) var window = Window()
    @Pref(.in(8...72)) var fontSize = 12.0
    @Pref var wraps = true
    @Pref var hits = 0
    @Pref var last: Window? = nil
    @Pref var names: [String: [Int]] = [:]
}

/// The tool in a program whose property is a struct: its fields are paths, as entries of a dictionary are.
@Suite(.waits) final class StructPropertyTests: HarnessSuite {
    /// The program's own file has no roots.
    override var program: Program? {
        let store = PrefsStore.propertyList(url: home.folder.file("window.json"), format: .json, layout: .flat)
        return Program(name: "myapp prefs") { WindowPrefs(key: $0, values: nil, store: $1 ?? store) }
    }

    private var stored: String { (try? home.text("window.json")) ?? "" }

    @Test func partsAreWhatTheProgramReads() throws {
        for (path, value) in [
            ("window.title", "Main"), ("window.size.width", "600"), ("window.size", #"{"height":400,"width":600}"#),
            ("window.tags[0]", "a"), ("window.isFull", "false"),
        ] { #expect(try prefs("get", path) == Printed(value + "\n"), "\(path)") }
        #expect(try prefs("set", "window", #"{"size": {"width": 1}}"#).code == 0)
        for (path, value) in [
            ("window.title", "Main"), ("window.size.width", "1"), ("window.size.height", "400"),
            ("window.tags", #"["a"]"#),
        ] { #expect(try prefs("get", path) == Printed(value + "\n"), "\(path)") }
        #expect(try prefs("get", "last.title") == failure("`last.title` is not set"))
    }

    @Test func aPartIsSetAndTheOthersStay() throws {
        #expect(try prefs("set", "window.title=New", "window.size.height=+20", "window.isFull=toggle") == Printed())
        #expect(try prefs("set", "window.tags[1]", "b") == Printed())
        #expect(
            try prefs("get", "window")
                == Printed(#"{"isFull":true,"size":{"height":420,"width":600},"tags":["a","b"],"title":"New"}"# + "\n"))
        #expect(try prefs("unset", "window.tags[0]") == Printed())
        #expect(try prefs("get", "window.tags") == Printed("[\"b\"]\n"))
        #expect(try prefs("set", "window.size.height", "3", "--if", "420") == Printed())
        let printed = try prefs("set", "window.size.height", "4", "--if", "420")
        #expect(printed == failure("`window.size.height`: expected 420, found 3; nothing has changed"))
    }

    @Test func aFieldThatTheTypeDoesNotHaveIsRejected() throws {
        for (words, message) in [
            (["set", "window.tilte", "x"], "no field `window.tilte`; did you mean `title`?"),
            (["set", "window.size.widht", "9"], "no field `window.size.widht`; did you mean `width`?"),
            (["set", "window.title=x", "window.titel=y"], "no field `window.titel`; did you mean `title`?"),
            (["set", "window.title[0]", "x"], "`window.title`: expected an array, found type string"),
            (["set", "window", #"{"title": "x", "titel": "y"}"#], "no field `window.titel`; did you mean `title`?"),
            (["get", "window.titel"], "`window.titel` is not set; did you mean `title`?"),
            (["set", "windw.title", "x"], "no key `windw`; did you mean `window`?"),
            (["set", "window.size.height", "tall"], "window"),
            (["set", "window.title", "5", "-t", "integer"], "window"),
            (["unset", "window.titel"], "`window.titel` is not set; did you mean `title`?"),
        ] {
            let printed = try prefs(words)
            #expect(printed.code == 1 && printed.errors.hasPrefix("myapp prefs: \(message)"), "\(words): \(printed)")
            #expect(try home.folder.names() == [], "\(words)")
        }
        // Another program has written it.
        try home.write(#"{"window": {"title": "x", "titel": "y"}}"#, to: "window.json")
        let report = try prefs("doctor").output
        let problem = "problem: window.titel: is not a field of its type; did you mean `title`?"
        #expect(report.contains(problem), "\(report)")
        // In a property list, another version may know what resembles no field.
        let size = ["width": 1, "height": 2, "depth": 3]
        let window = ["title": "x", "titel": "y", "size": size, "isFull": true, "tags": []] as [String: Any]
        try home.write(["WindowPrefs": ["window": window]], to: "w.plist")
        var inspection = FileInspection(path: home.path("w.plist"))
        inspection.check(WindowPrefs(store: .propertyList(url: home.folder.file("w.plist"))))
        #expect(inspection.problems.map(\.path) == ["WindowPrefs.window.titel"], "\(inspection.problems)")
    }

    @Test func missingContainersAreMade() throws {
        #expect(try prefs("set", "window.tags[0]=x", "window.tags[1]=b", "names.x[0]=1") == Printed())
        #expect(try prefs("get", "window.tags", "names") == Printed("[\"x\",\"b\"]\n{\"x\":[1]}\n"))
        #expect(try prefs("set", "names.x[0]", "b").errors.contains("expected Int"))
        #expect(try prefs("set", "window.tags", "c,d") == Printed())
        #expect(try prefs("get", "window.tags[1]") == Printed("d\n"))
    }

    /// Another version of the program has stored it.
    @Test func aFieldOfAnotherVersionStays() throws {
        let text = #"{"window": {"size": {"depth": 2, "width": 5}, "newer": [1], "title": "x"}}"#
        try home.write(text, to: "window.json")
        #expect(try prefs("get", "window.newer") == failure("`window.newer` is not set"))
        #expect(try prefs("set", "window.title=y", "window.size.height=+1") == Printed())
        #expect(try prefs("unset", "window.size.width") == Printed())
        #expect(try prefs("set", "window.tags[0]", "b") == Printed())
        for part in [#""newer": ["#, #""depth": 2"#, #""height": 401"#, #""title": "y""#] {
            #expect(stored.contains(part))
        }
        #expect(try prefs("set", "window.size.dept", "1").errors.contains("no field `window.size.dept`"))
        #expect(try prefs("doctor").output.contains("problem: window.newer: is not a field of its type"))
    }

    @Test func aTextIsOfTheTypeOfItsProperty() throws {
        #expect(try prefs("set", "hits=+2", "fontSize=+0.5", "wraps=toggle") == Printed())
        #expect(try prefs("set", "hits", "+2") == Printed())
        #expect(stored == "{\n  \"fontSize\": 12.5,\n  \"hits\": 4,\n  \"wraps\": false\n}\n")
        #expect(try prefs("set", "wraps", "toggle") == Printed())
        #expect(try prefs("get", "wraps") == Printed("true\n"))
        #expect(try prefs("get", "wraps", "--type") == Printed("boolean\n"))
        #expect(try prefs("set", "fontSize", "14", "-t", "integer") == Printed())
        #expect(try prefs("get", "fontSize") == Printed("14\n"))
        for (words, message) in [
            (["set", "fontSize", "+100"], "fontSize: must be in 8.0...72.0"),
            (["set", "hits", "1", "-t", "string"], "hits: expected Int, found a string"),
            (["set", "hits", "toggle"], "hits: expected Int, found \"toggle\""),
            (["set", "hits", "+0.5"], "expected a 64-bit integer such as 1 or -7, found \"0.5\""),
            (["set", "hits", "+9223372036854775807"], "hits: expected Int (-9223372036854775808"),
            (["set", "wraps", "+1"], "wraps: expected one of true, false, found \"+1\""),
            (["set", "last", "toggle"], "last: expected "),
        ] {
            let before = stored
            let printed = try prefs(words)
            #expect(printed.code == 1 && printed.errors.hasPrefix("myapp prefs: \(message)"), "\(words): \(printed)")
            #expect(stored == before)
        }
    }

    @Test func unsetAllRestoresTheDefaults() throws {
        #expect(try prefs("set", "hits=2", "window.title=x") == Printed())
        #expect(try prefs("unset", "--all", "--dry-run").output.hasPrefix("- hits: 2\n- window: {"))
        #expect(try prefs("get", "hits") == Printed("2\n"))
        #expect(try prefs("unset", "--all") == Printed())
        #expect(try prefs("get", "hits", "window.title") == Printed("0\nMain\n"))
        #expect(try prefs("get", "window", "--stored") == failure("`window` is not set"))
    }

    @Test func showAndFindKnowTheFields() throws {
        #expect(try prefs("set", "window.title", "Second") == Printed())
        let rows = try prefs("show", "window").output.split(separator: "\n").suffix(2)
        #expect(
            rows == [
                "KEY     TYPE    SOURCE  VALUE",
                #"window  Window  stored  {"isFull":false,"size":{"height":400,"width":600},"tags":["a"],"title":"Second"}"#,
            ])
        #expect(try prefs("show", "window.titel").code == 1)
        #expect(try prefs("find", "second") == Printed("window.title: Second\n"))
        #expect(try prefs("find", "WIDTH") == Printed("window.size.width: 600\n"))
        #expect(try prefs("find", "main window").output.hasPrefix("window: {"))
    }

    // MARK: - Completion

    @Test(arguments: [
        ("get", "window.", ["window.isFull", "window.size", "window.tags", "window.title"]),
        ("get", "window.t", ["window.tags", "window.title"]),
        ("set", "window.size.", ["window.size.height", "window.size.width"]),
        ("unset", "window.size.w", ["window.size.width"]), ("show", "window.si", ["window.size"]),
        ("watch", "window.size.h", ["window.size.height"]),
        // An optional without a value has no fields. A field that is not a struct has none, either.
        ("get", "last.", []), ("get", "window.title.", []), ("get", "nope.", []), ("get", "win", ["window"]),
    ])
    func afterADotTheFieldsAreOffered(command: String, word: String, offers: [String]) throws {
        let candidates = WordCompleter(of: try #require(program), before: [command], word: word).candidates
        #expect(candidates.map(\.text).filter { $0.hasPrefix(word) } == offers)
    }
}
