import Foundation
import TestSupport
import Testing

/// Values keep their types on the way from one file to another, and a text is stored as what it was meant, or rejected.
@Suite(.waits) final class HarnessKeptTypeTests: HarnessSuite {
    private var from: String { home.path("a.plist") }
    private var to: String { home.path("b.plist") }

    private static let values = [
        "\"42\"", "42", "16.0", "-0.0", "1e+22", "true", "\"true\"", "\"\"", "\"[\"", "18446744073709551615", "[]",
        "{}",
        #"{"$date": "2026-11-20T08:30:00.25Z"}"#, #"{"$data": "SGk="}"#, #"{"$double": "nan"}"#,
        "[\n  1,\n  1.0,\n  \"1\",\n  {\"$data\": \"\"}\n]", "{\n  \"k\": {\"$date\": \"2026-11-20T00:00:00Z\"}\n}",
    ]

    /// What `get --json` prints is what `show --json` prints, and `set` reads it as the same value, also a second time.
    @Test(arguments: values) func aValueIsCopiedByItsJSON(value: String) throws {
        try prefs("set", "-f", from, "K", value, "-t", "json")
        let printed = try prefs("get", "-f", from, "K", "--json")
        #expect(printed == Printed(value + "\n"))
        let shown = try prefs("show", "-f", from, "--json").output
        #expect(shown == "{\n  \"K\": \(value.replacing("\n", with: "\n  "))\n}\n")
        for _ in 0..<2 {
            #expect(try prefs("set", "-f", to, "K", String(printed.output.dropLast())) == Printed())
            #expect(try prefs("export", "-f", to) == prefs("export", "-f", from))
        }
    }

    @Test func severalValuesArePrintedInTheirOrder() throws {
        try prefs("set", "-f", from, "a=1", "b=two", "c=[3]")
        #expect(try prefs("get", "-f", from, "b", "a", "c[0]") == Printed("two\n1\n3\n"))
        #expect(try prefs("get", "-f", from, "b", "a", "--json") == Printed("\"two\"\n1\n"))
        #expect(try prefs("get", "-f", from, "a", "c", "--type") == Printed("integer\narray\n"))
        #expect(try prefs("get", "-f", from, "a", "x", "--default", "d") == Printed("1\nd\n"))
        #expect(try prefs("get", "-f", from, "a", "other") == .failure("`other` is not set"))
    }

    private static let guesses: [(text: String, message: String)] = [
        ("[1", "`[1` is not JSON: line 1, column 3: expected , or ] before the end of the data (at [1])"),
        ("False", "`False` is not JSON; write false, or -t string stores the text"),
        ("NULL", "`NULL` is not JSON; write null, or -t string stores the text"),
        ("99999999999999999999", "`99999999999999999999` is beyond the range of numbers; -t string stores the text"),
    ]

    /// In a JSON file, null is no type of its own.
    @Test func nullIsSetComparedAndReplaced() throws {
        let path = try home.write("{\"s\": \"x\", \"n\": null}\n", to: "n.json").path
        #expect(try prefs("set", "-f", path, "s=null", "b=null", "c=[1, null]") == Printed())
        #expect(try prefs("set", "-f", path, "d", "null", "-t", "json") == Printed())
        #expect(try prefs("set", "-f", path, "n", "3", "--if", "null") == Printed())
        let text = "{\"s\": null, \"n\": 3, \"b\": null, \"c\": [1, null], \"d\": null}\n"
        #expect(try home.text("n.json") == text)
        #expect(try prefs("set", "-f", path, "n", "4", "--if", "null").code == 1)
        #expect(try prefs("set", "-f", path, "s", "null", "-t", "string") == Printed())
        #expect(try prefs("get", "-f", path, "s", "--type") == Printed("string\n"))
    }

    /// JSON holds them, but no type of a program does.
    @Test(arguments: ["1e400", "-1e400", "99999999999999999999", "12345678901234567890123"])
    func aNumberBeyondEveryTypeIsRejectedInJSONToo(text: String) throws {
        let path = try home.write("{\"n\": 1}", to: "n.json").path
        for key in ["n", "new"] {
            let printed = try prefs("set", "-f", path, key, text)
            let ways = "-t json stores the number, -t string stores the text"
            #expect(printed == .failure("`\(text)` is beyond the range of numbers; \(ways)"))
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "{\"n\": 1}")
        #expect(try prefs("set", "-f", path, "n", text, "-t", "json") == Printed())
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "{\"n\": \(text)}")
        for (index, exact) in ["18446744073709551615", "0.12345678901234567890123", "1e22"].enumerated() {
            #expect(try prefs("set", "-f", path, "new\(index)", exact) == Printed())
        }
    }

    @Test(arguments: guesses) func aTextThatWasMeantAsAnotherValueIsRejected(text: String, message: String) throws {
        for words in [["set", "-f", from, "new", text], ["set", "-f", from, "list[0]", text]] {
            let printed = try prefs(words)
            #expect(printed.code == 1 && printed.errors.hasPrefix("prefs: \(message)"), "\(printed)")
        }
        #expect(try home.folder.names() == [])
        #expect(try prefs("set", "-f", from, "new", text, "-t", "string") == Printed())
        #expect(try prefs("get", "-f", from, "new") == Printed(text + "\n"))
        // Where a string is replaced, the text is one.
        #expect(try prefs("set", "-f", from, "new", "x\(text)") == Printed())
    }

    @Test func anElementIsAppended() throws {
        let file = home.path("x.json")
        try home.write("{\"ports\": [80], \"names\": [\"a\"]}\n", to: "x.json")
        #expect(try prefs("set", "-f", file, "ports[+]", "443") == Printed())
        #expect(try prefs("set", "-f", file, "names[+]=1", "names[+]=2", "new.list[+]=x") == Printed())
        let text = "{\"ports\": [80, 443], \"names\": [\"a\", \"1\", \"2\"], \"new\": {\"list\": [\"x\"]}}\n"
        #expect(try home.text("x.json") == text)
        #expect(try prefs("set", "array", "[]") == Printed())
        #expect(try prefs("set", "array[+]", "one") == Printed())
        #expect(try prefs("set", "array[+]=two", "array[+]=three") == Printed())
        #expect(try prefs("get", "array") == Printed("[\"one\",\"two\",\"three\"]\n"))
        let printed = try prefs("set", "-f", file, "new[+]", "x")
        #expect(printed == .failure("`new`: expected an array, found type dictionary"))
    }

    /// A number of more digits than a Double has: a sum that changed nothing would be a silent failure.
    @Test func aSumThatChangesNothingIsAnError() throws {
        let path = home.path("g.json")
        let text = "{\"a\": 1e22, \"long\": 12345678901234567890123, \"price\": 12345678901234567.89}\n"
        try home.write(text, to: "g.json")
        let reason = "`a` has too many digits, so adding 1 would change nothing"
        #expect(try prefs("set", "-f", path, "a", "+1") == .failure(reason))
        #expect(try home.text("g.json") == text)
        // All digits of a long number count.
        #expect(try prefs("set", "-f", path, "long=+1", "price=+0.01") == Printed())
        let sums = text.replacing("123,", with: "124,").replacing("567.89", with: "567.9")
        #expect(try home.text("g.json") == sums)
        let lost = "`b` has too many digits, so adding 99999999999999999999 would lose it"
        #expect(try prefs("set", "-f", path, "b", "1.5") == Printed())
        #expect(try prefs("set", "-f", path, "b", "+99999999999999999999") == .failure(lost))
        try prefs("unset", "-f", path, "b")
        // A property list has Doubles.
        let digits = "`long`: a number that a double does not hold exactly cannot be stored in a property list"
        #expect(try prefs("mv", "\(path):long", from) == .failure(digits))
        #expect(try home.text("g.json") == sums)
        #expect(try prefs("set", "-f", path, "a", "+0").code == 0)
        try prefs("set", "-f", path, "b", "1e308")
        #expect(
            try prefs("set", "-f", path, "b", "+1.5e308") == .failure("`b`: the sum is too large for a number"))
    }

    @Test func onlyNumbersAndBooleansAreCalculated() throws {
        try prefs("set", "-f", from, #"version="1.0""#, "n=1", "flag=true")
        let end = "cannot change it; -t string stores the text"
        for text in ["+1", "toggle", "+0.5"] {
            let printed = try prefs("set", "-f", from, "version", text)
            #expect(printed == .failure("`version` is of type string, so `\(text)` \(end)"))
        }
        #expect(try prefs("set", "-f", from, "n", "toggle").code == 1)
        #expect(try prefs("set", "-f", from, "flag", "+1").code == 1)
        #expect(try prefs("get", "-f", from, "version", "n", "flag") == Printed("1.0\n1\ntrue\n"))
        #expect(try prefs("set", "-f", from, "n=+2", "flag=toggle") == Printed())
        #expect(try prefs("set", "-f", from, "n", "+-7") == Printed())
        #expect(try prefs("get", "-f", from, "n", "flag") == Printed("-4\nfalse\n"))
        #expect(try prefs("set", "string", "+1", "-t", "string") == Printed())
        #expect(try prefs("get", "string") == Printed("+1\n"))
        #expect(try prefs("set", "-f", from, "version", "toggle", "-t", "string") == Printed())
    }

    @Test func aQuotedStringIsTheStringInside() throws {
        #expect(try prefs("set", "string", #""two words""#) == Printed())
        #expect(try prefs("get", "string", "--json") == Printed("\"two words\"\n"))
        #expect(try prefs("set", "string", #""quotes""#, "-t", "string") == Printed())
        #expect(try prefs("get", "string") == Printed("\"quotes\"\n"))
        #expect(try prefs("set", "string", "\"open") == Printed())
        #expect(try prefs("get", "string") == Printed("\"open\n"))
    }

    /// The type of a new value is told on a terminal; a script knows it.
    @Test func theTypeOfANewValueIsTold() throws {
        let lines = "prefs: a: integer (-t TYPE stores another type)\nprefs: b: string (-t TYPE stores another type)\n"
        #expect(try home.shown(["set", "-f", from, "a=1", "b=x"], ["NO_COLOR": "1"]) == (lines, 0))
    }

    /// A new key that resembles one beside it may be a typing error. A script is not told.
    @Test func aNewKeyThatResemblesAnotherIsTold() throws {
        let file = home.path("new.json")
        try home.write(#"{"fontSize": 4, "server1": 1, "in": {"width": 5}}"#, to: "new.json")
        func type(_ key: String) -> String { "prefs: \(key): integer (-t TYPE stores another type)\n" }
        func hint(_ key: String, _ other: String) -> String {
            "prefs: `\(key)` is new here, beside `\(other)`; `unset` removes it if it is a mistake\n"
        }
        for (key, lines) in [
            ("fontSze", type("fontSze") + hint("fontSze", "fontSize")), ("server2", type("server2")),
            ("in.widht", type("in.widht") + hint("widht", "width")), ("other", type("other")), ("fontSize", ""),
        ] {
            #expect(try home.shown(["set", "-f", file, "\(key)=7"], ["NO_COLOR": "1"]) == (lines, 0))
        }
        #expect(try prefs("set", "-f", file, "fontSie", "7") == Printed())
    }
}
