import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit
import TestSupport
import Testing

@testable import PrefsTool

/// What another program's JSON means is not ours to rename: markers, spellings of numbers, and keys that stand twice.
@Suite(.waits) final class OthersJSONTests: HarnessSuite {
    private var path: String { home.path("m.json") }

    /// Runs a command on a text, and returns the text after it.
    private func text(_ text: String, after words: String...) throws -> String {
        try home.write(text, to: "m.json")
        #expect(try prefs([words[0], "-f", path] + words.dropFirst()) == Printed(), "\(words)")
        let new = try home.text("m.json")
        if new != text {
            #expect(try prefs("undo", "-f", path).code == 0)
            #expect(try home.text("m.json") == text)
        }
        return new
    }

    // MARK: - Markers

    @Test func aKeyIsNotRenamed() throws {
        let moment = #""2020-01-01T01:00:00+01:00""#
        #expect(
            try text(#"{"x":{"$date":\#(moment),"tz":"CET"}}"#, after: "unset", "x.tz")
                == #"{"x":{"$date":\#(moment)}}"#)
        #expect(
            try text(#"{"q":{}}"#, after: "set", #"q["$date"]"#, "2020-01-01T00:00:00Z")
                == #"{"q":{"$date":"2020-01-01T00:00:00Z"}}"#)
        #expect(
            try text(#"{"q":{"b":1, "$data":"AQID"}}"#, after: "unset", "q.b") == #"{"q":{"$data":"AQID"}}"#)
        #expect(
            try text(#"{"q":{"b":1, "$double":"nan"}}"#, after: "mv", "q.b", "b") == #"{"b":1, "q":{"$double":"nan"}}"#)
        #expect(try text(#"{"a":1, "$date":"2020-01-01"}"#, after: "unset", "a") == #"{"$date":"2020-01-01"}"#)
        #expect(try text(#"{"$date":"2020-01-01"}"#, after: "set", "a", "1") == #"{"$date":"2020-01-01", "a":1}"#)
        // The text of the form stays, too.
        #expect(
            try text("{\"q\":{\"b\":1,\n\"$date\":5 /* here */}}", after: "unset", "q.b")
                == "{\"q\":{\n\"$date\":5 /* here */}}")
        // No form: the content does not fit.
        #expect(try text(#"{"q":{"b":1,"$date":"x"}}"#, after: "unset", "q.b") == #"{"q":{"$date":"x"}}"#)
    }

    /// A form with another content than this package writes.
    @Test(arguments: [
        (
            ["set", "-t", "json", #"q["$date"]"#, "-9.5"],
            #"{"q":{"$date":-9.5},"d":{"$date":"2020-01-01T00:00:00.000Z"}}"#
        ),
        (["set", "q", #"{"$date":1e1}"#], #"{"q":{"$date":1e1},"d":{"$date":"2020-01-01T00:00:00.000Z"}}"#),
        (["set", "q", #"{"$$date":"y"}"#], #"{"q":{"$$date":"y"},"d":{"$date":"2020-01-01T00:00:00.000Z"}}"#),
        (
            ["cp", "d", "q.d"],
            #"{"q":{"$date":"x", "d":{"$date":"2020-01-01T00:00:00.000Z"}},"d":{"$date":"2020-01-01T00:00:00.000Z"}}"#
        ),
        (["mv", "d", "q.d"], #"{"q":{"$date":"x", "d":{"$date":"2020-01-01T00:00:00.000Z"}}}"#),
        // An equal date changes nothing.
        (
            ["set", "d", #"{"$date":"2020-01-01T00:00:00Z"}"#],
            #"{"q":{"$date":"x"},"d":{"$date":"2020-01-01T00:00:00.000Z"}}"#
        ),
        (["set", "d", "2021-01-01"], #"{"q":{"$date":"x"},"d":{"$date":"2021-01-01T00:00:00Z"}}"#),
    ])
    func theTextOfAFormStays(_ words: [String], _ new: String) throws {
        try home.write(#"{"q":{"$date":"x"},"d":{"$date":"2020-01-01T00:00:00.000Z"}}"#, to: "m.json")
        #expect(try prefs([words[0], "-f", path] + words.dropFirst() + ["--force"]) == Printed())
        #expect(try home.text("m.json") == new)
    }

    /// A program has stored a dictionary that would be read as a date.
    @Test func anEscapedKeyStays() throws {
        let text = #"{"q":{"$$date":"2020-01-01T00:00:00Z"},"r":{}}"#
        #expect(
            try self.text(text, after: "set", "q.b", "1") == #"{"q":{"$$date":"2020-01-01T00:00:00Z", "b":1},"r":{}}"#)
        #expect(
            try self.text(text, after: "cp", "q", "r.q")
                == #"{"q":{"$$date":"2020-01-01T00:00:00Z"},"r":{"q":{"$$date":"2020-01-01T00:00:00Z"}}}"#)
    }

    @Test func theValuesAtTheTopAreADictionary() throws {
        try home.write(#"{"$date":"2020-01-01T00:00:00Z"}"#, to: "m.json")
        #expect(try prefs("get", "-f", path, #"["$date"]"#) == Printed("2020-01-01T00:00:00Z\n"))
        let new = home.path("flat.json")
        #expect(try prefs("set", "-f", new, #"["$date"]"#, "2020-01-01T00:00:00Z", "-t", "string") == Printed())
        #expect(try home.text("flat.json") == "{\n  \"$date\": \"2020-01-01T00:00:00Z\"\n}\n")
        // Also if a program writes them.
        let flat = PrefsStore.json(url: home.folder.file("own.json"))
        try flat.update(root: "R") { $0 = ["$date": "2020-01-01T00:00:00Z"] }
        #expect(try home.text("own.json") == "{\n  \"$date\": \"2020-01-01T00:00:00Z\"\n}\n")
        #expect(try flat.read(root: "R")?["$date"] as? String == "2020-01-01T00:00:00Z")
        let store = PrefsStore.propertyList(url: home.folder.file("new.json"), format: .json)
        _ = try store.update(root: "$date") { $0 = ["a": 1] }
        #expect(try home.text("new.json") == "{\n  \"$date\": {\n    \"a\": 1\n  }\n}\n")
        #expect(try store.read(root: "$date")?["a"] as? Int == 1)
    }

    // MARK: - Numbers

    private static let numbers = #"{"a":{"x":-0,"y":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{}}"#

    @Test(arguments: [
        (["mv", "a.x", "b.x"], #"{"a":{"y":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{"x":-0}}"#),
        (
            ["cp", "a.z", "b.z"],
            #"{"a":{"x":-0,"y":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{"z":[1.50, {"k":1E5}]}}"#
        ),
        (["mv", "a.y", "a.w"], #"{"a":{"x":-0,"w":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{}}"#),
        (["set", "b.n", "72225e2"], #"{"a":{"x":-0,"y":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{"n":72225e2}}"#),
        (
            ["set", "b.n", #"{"q":1.500}"#],
            #"{"a":{"x":-0,"y":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{"n":{"q":1.500}}}"#
        ),
        (["set", "-t", "json", "a.x", "5.0"], #"{"a":{"x":5.0,"y":1e2,"z":[1.50,{"k":1E5}],"t":"1e2"},"b":{}}"#),
        // An equal number changes nothing.
        (["set", "a.y", "100.0"], numbers), (["set", "a.z[0]", "1.5"], numbers), (["set", "a.y", "1.0e2"], numbers),
    ])
    func aNumberKeepsItsText(_ words: [String], _ new: String) throws {
        try home.write(Self.numbers, to: "m.json")
        let printed = try prefs([words[0], "-f", path] + words.dropFirst() + ["--force"])
        #expect(printed == Printed())
        #expect(try home.text("m.json") == new)
    }

    @Test func aCopyInAnotherFileKeepsTheText() throws {
        try home.write(Self.numbers, to: "m.json")
        try home.write("{}\n", to: "n.json")
        let other = home.path("n.json")
        #expect(try prefs("cp", "\(path):a.z", "\(other):z") == Printed())
        #expect(try home.text("n.json") == "{\n  \"z\": [\n    1.50,\n    {\n      \"k\": 1E5\n    }\n  ]\n}\n")
        try home.write(#"{"y": 50.0}"#, to: "n.json")
        try home.write(#"{"y": 5E1, "w": 2e0}"#, to: "i.json")
        #expect(try prefs("import", "-f", other, home.path("i.json")) == Printed())
        #expect(try home.text("n.json") == #"{"w": 2e0, "y": 50.0}"#)
        // A property list has one text for a number.
        #expect(try prefs("cp", "\(path):a.y", "\(home.path("n.plist")):y") == Printed())
        #expect(try prefs("get", "-f", home.path("n.plist"), "y") == Printed("100\n"))
    }

    // MARK: - Keys that stand twice

    @Test func theLastOfTwoKeysIsReadWithAWarning() throws {
        let text = "{\"a\": 1,\n\"b\": {\"c\": 2,\n\"c\": 5},\n\"a\": {\"d\": 3}}\n"
        try home.write(text, to: "m.json")
        func warned(_ output: String) -> Printed {
            let lines = "`c` stands in line 2 and in line 3, and the last one counts; writes are rejected"
            return Printed(output, errors: "prefs: \(path): \(lines)\n")
        }
        #expect(try prefs("get", "-f", path, "a.d", "b.c") == warned("3\n5\n"))
        #expect(try prefs("find", "-f", path, "5") == warned("b.c: 5\n"))
        let all = "{\n  \"a\": {\n    \"d\": 3\n  },\n  \"b\": {\n    \"c\": 5\n  }\n}\n"
        #expect(try prefs("export", "-f", path) == warned(all))
        #expect(try prefs("show", "-f", path, "--json").output == all)
        for words in [["set", "b.c", "1"], ["unset", "a"], ["mv", "a", "z"]] {
            let printed = try prefs([words[0], "-f", path] + words.dropFirst())
            #expect(printed.code == 1 && printed.errors.contains("the key occurs twice, first in line 2"), "\(printed)")
        }
        #expect(try home.text("m.json") == text)
        // Something else is wrong, too.
        try home.write(#"{"a": 1, "a": 2, }x"#, to: "m.json")
        #expect(try prefs("get", "-f", path, "a").code == 1)
    }

    /// Any number of them takes time linear in the text.
    @Test func manyKeysThatStandTwice() throws {
        let members = (0..<50_000).map { "\"k\($0 % 25_000)\": \($0)" }
        try home.write("{" + members.joined(separator: ",") + "}", to: "m.json")
        #expect(try prefs("get", "-f", path, "k7").output == "25007\n")
    }

    // MARK: - Other formats

    @Test func aTextOfXcodeIsNamed() throws {
        let text = "// !$*UTF8*$!\n{\n\tarchiveVersion = 1;\n}\n"
        try home.write(text, to: "p.pbxproj")
        let printed = try prefs("show", "-f", home.path("p.pbxproj"))
        #expect(printed.code == 1 && printed.errors.contains("property lists in the OpenStep format"), "\(printed)")
    }

    @Test(arguments: [("x", "&#233;"), ("\u{E4}", "\u{E9}")]) func aLetterOfLatin1(_ other: String, _ new: String)
        throws
    {
        func list(_ text: String) throws -> Data {
            let text = """
                <?xml version="1.0" encoding="ISO-8859-1"?>
                <plist version="1.0"><dict><key>a</key><string>\(text)</string><key>b</key><string>\(other)</string></dict></plist>

                """
            return try #require(text.data(using: .isoLatin1))
        }
        try home.write(list("x"), to: "l.plist")
        let file = home.path("l.plist")
        #expect(try prefs("set", "-f", file, "a", "\u{E9}") == Printed())
        #expect(try Data(contentsOf: home.folder.file("l.plist")) == list(new))
        #expect(try prefs("get", "-f", file, "a") == Printed("\u{E9}\n"))
    }
}

/// `null` in the settings of a class is nil.
private final class AuthorPrefs: PersistentPrefs, @unchecked Sendable {
    struct Place: Codable, Equatable {
        var street: String? = "Main Street"
        var city = "Ulm"
    }

    @Pref var author: String? = nil
    @Pref var nick: String? = "nobody"
    @Pref var number = 1
    @Pref var place = Place()
    @Pref var names: [String?] = []
}

@Suite(.waits, .serialized) final class NilOfClassTests: HarnessSuite {
    private var isJSON = true
    private var url: URL { home.folder.file(isJSON ? "c.json" : "c.plist") }

    override var program: Program? {
        let url = url
        let store = isJSON ? PrefsStore.json(url: url) : PrefsStore.propertyList(url: url, layout: .flat) as PrefsStore
        return Program(name: "p") { AuthorPrefs(key: $0, values: nil, store: $1 ?? store) }
    }

    private var instance: AuthorPrefs { AuthorPrefs(key: nil, values: nil, store: .json(url: url)) }

    @Test func aNullInsideOfAValueIsNil() throws {
        #expect(try prefs("set", "-t", "json", "place", #"{"street": null, "city": "Bonn"}"#) == Printed())
        #expect(instance.place == AuthorPrefs.Place(street: nil, city: "Bonn"))
        #expect(try prefs("set", "-t", "json", "names", #"["a", null]"#) == Printed())
        #expect(instance.names == ["a", nil])
        #expect(try home.text("c.json").contains("    null\n"))
    }

    /// The command goes on behind a key that is neither stored nor has a default.
    @Test func everyGivenKeyIsRemoved() throws {
        try home.write(#"{"nick": "n", "number": 2, "names": ["a"]}"#, to: "c.json")
        #expect(try prefs("unset", "author", "nick", "number") == Printed())
        #expect(instance.nick == "nobody" && instance.number == 1 && instance.names == ["a"])
    }

    @Test func nullIsNil() throws {
        try home.write(#"{"author": "Ann", "nick": "n"}"#, to: "c.json")
        #expect(try prefs("set", "author", "null") == Printed())
        #expect(try home.text("c.json") == #"{"nick": "n"}"#)
        #expect(try prefs("set", "nick", "null") == Printed())
        #expect(try home.text("c.json") == #"{"nick": null}"#)
        #expect(instance.author == nil && instance.nick == nil)
        #expect(try prefs("set", "nick=\"null\"", "author=\"null\"") == Printed())
        #expect(instance.author == "null" && instance.nick == "null")
        #expect(try prefs("set", "-t", "json", "nick", "null") == Printed())
        #expect(instance.nick == nil && instance.author == "null")
        #expect(try prefs("set", "place.street", "null") == Printed())
        #expect(instance.place == AuthorPrefs.Place(street: nil, city: "Ulm"))
        // A text that cannot be nil.
        #expect(try prefs("set", "place.city", "null") == Printed())
        #expect(instance.place == AuthorPrefs.Place(street: nil, city: "null"))
        let text = try home.text("c.json")
        for words in [["number", "null"], ["-t", "json", "number", "null"]] {
            let printed = try prefs(["set"] + words)
            #expect(printed.code == 1 && printed.errors.hasPrefix("p: number: expected Int, found "), "\(printed)")
        }
        #expect(try home.text("c.json") == text)
    }

    @Test func aPropertyListHasNoNull() throws {
        isJSON = false
        #expect(try prefs("set", "author=Ann", "nick=n") == Printed())
        #expect(try prefs("set", "author", "null") == Printed())
        #expect(try prefs("get", "author", "--stored").code == 1)
        let reason = "a property list has no null, and without a value the default nobody is read"
        #expect(try prefs("set", "nick", "null") == failure("nick: \(reason)"))
        #expect(try prefs("get", "nick") == Printed("n\n"))
        #expect(try prefs("set", "place.street", "null") == Printed())
        let stored = AuthorPrefs(key: nil, values: nil, store: .propertyList(url: url, layout: .flat))
        #expect(stored.place == AuthorPrefs.Place(street: nil, city: "Ulm"))
    }

    // MARK: - The text of a file that has the settings only

    @Test func aPersonEditsTheFileItself() throws {
        let text = "{\n  // mine\n  \"author\": \"Ann\",\n  \"theirs\": 1, // of a plugin\n}\n"
        try home.write(text, to: "c.json")
        let run = try EditRun(home, #"sed -i 's/"Ann"/"Bob"/' "$1""#)
        #expect(try prefs(["edit"], run.environment) == Printed())
        #expect(try run.opened(1) == text)
        #expect(try home.text("c.json") == text.replacing("Ann", with: "Bob"))
        #expect(try prefs("undo").code == 0)
        #expect(try home.text("c.json") == text)
    }

    @Test(arguments: [
        (#"s/"Ann"/5/"#, "author: expected String, found an integer"),
        (#"s/"author"/"auhtor"/"#, "no key `auhtor`; did you mean `author`?"),
    ])
    func whatTheClassWouldNotReadIsRejected(_ script: String, _ reason: String) throws {
        let text = "{\n  \"author\": \"Ann\",\n  \"number\": \"wrong before\"\n}\n"
        try home.write(text, to: "c.json")
        let run = try EditRun(home, "sed -i '\(script)' \"$1\"")
        let printed = try prefs(["edit"], run.environment)
        #expect(printed.code == 1 && printed.errors.contains(reason), "\(printed)")
        #expect(try run.opened(2).contains("  // error: \(reason)\n"))
        #expect(try home.text("c.json") == text)
    }

    @Test func everythingThatTheClassWouldNotReadIsTold() throws {
        let text = "{\n  \"author\": \"Ann\",\n  \"number\": 1\n}\n"
        try home.write(text, to: "c.json")
        let run = try EditRun(home, #"sed -i 's/"Ann"/5/; s/: 1/: "x"/' "$1""#)
        #expect(try prefs(["edit"], run.environment).code == 1)
        for reason in ["author: expected String, found an integer", "number: expected Int, found a string"] {
            #expect(try run.opened(2).contains("  // error: \(reason)\n"))
        }
        #expect(try home.text("c.json") == text)
    }
}
