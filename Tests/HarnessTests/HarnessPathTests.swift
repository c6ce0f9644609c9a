import Foundation
import PrefsPropertyLists
import Testing

@testable import PrefsJSON
@testable import PrefsTool

/// The meaning of the words of `set`: a path or the name of a key, and a text or a value of the existing type.
@Suite(.waits) final class HarnessPathTests: HarnessSuite {
    private static let form = "expected a key or a path such as a.b[0], found"
    private static let rejected: [(path: String, message: String)] = [
        ("servers[*].p", "\(form) `servers[*].p`; a new key of that name is written 'servers\\[*]\\.p'"),
        ("a..b", "\(form) `a..b`; a new key of that name is written 'a\\.\\.b'"),
        ("a.", "\(form) `a.`; a new key of that name is written 'a\\.'"),
        (".a", "\(form) `.a`; a new key of that name is written '\\.a'"),
        ("[0]", "\(form) `[0]`; a new key of that name is written '\\[0]'"),
        ("a[0", "\(form) `a[0`; a new key of that name is written 'a\\[0'"),
        ("a[0]b", "\(form) `a[0]b`; a new key of that name is written 'a\\[0]b'"),
        ("", "\(form) an empty text"),
        ("sizes[1]", "there is no element 1 of `sizes`, which has 0 elements"),
        ("sizes[-1]", "there is no element -1 of `sizes`, which has 0 elements"),
        ("R.sizes[1].w", "there is no element 1 of `R.sizes`, which has 0 elements"),
        ("R.s.t", "`R.s`: expected a dictionary, found type string"),
        ("R.s[0]", "`R.s`: expected an array, found type string"),
        ("R[0]", "`R`: expected an array, found type dictionary"),
    ]

    /// The meaning of a path does not depend on its container. A missing container is made, or the command is rejected.
    @Test(arguments: ["d.plist", "d.json"]) func aPathIsNeverTheNameOfAKey(name: String) throws {
        let file = home.path(name)
        try prefs("set", "-f", file, "R.s", "t")
        let state = try home.state()
        for (path, message) in Self.rejected {
            #expect(try prefs("set", "-f", file, path, "x") == .failure(message))
            #expect(try prefs("set", "-f", file, path, "x", "--dry-run") == .failure(message))
        }
        #expect(try home.state() == state)
        let paths = [
            "sizes[0]=3", "R.sizes[0].w=4", "R.new.deep=5", "Editor.size=6", "com.example.flag=true", "a[0][0]=7",
        ]
        #expect(try prefs(["set", "-f", file] + paths) == Printed())
        let all =
            #"{"Editor":{"size":6},"R":{"new":{"deep":5},"s":"t","sizes":[{"w":4}]},"a":[[7]],"com":{"example":{"flag":true}},"#
            + #""sizes":[3]}"#
        #expect(try ExportFormat.value(ofJSON: Data(prefs("export", "-f", file).output.utf8)).json == all)
        #expect(try prefs("set", "-f", file, "sizes[1]=4", "sizes[-1]=5", "sizes[2]=6") == Printed())
        #expect(try prefs("get", "-f", file, "sizes") == Printed("[3,5,6]\n"))
    }

    /// Other programs store names with dots, such as reversed domain names.
    @Test func aKeyWithDotsIsReachedByItsName() throws {
        let file = home.path("d.plist")
        let content: [String: Any] = ["com.example.flag": false, "sizes[0]": 1, "com": ["example": 7]]
        try home.write(content, to: "d.plist")
        #expect(try prefs("set", "-f", file, "com.example.flag", "true") == Printed())
        #expect(try prefs("get", "-f", file, "com.example.flag", "com.example") == Printed("true\n7\n"))
        #expect(try prefs("set", "-f", file, "sizes[0]", "2") == Printed())
        #expect(try prefs("unset", "-f", file, "sizes[0]") == Printed())
        // A backslash also works in the name of an existing key.
        #expect(try prefs("get", "-f", file, #"com\.example\.flag"#) == Printed("true\n"))
        // A backslash creates a new key.
        #expect(try prefs("set", "-f", file, #"org\.example\[0]"#, "v") == Printed())
        #expect(try prefs("set", "-f", file, #"org\.example\[0]"#, "w") == Printed())
        #expect(try prefs("get", "-f", file, "org.example[0]") == Printed("w\n"))
        #expect(try prefs("set", "-f", file, #"com.a\.b"#, "8") == Printed())
        #expect(try prefs("get", "-f", file, "com.a.b") == Printed("8\n"))
        #expect(try prefs("set", "-f", file, #"A\.B.k"#, "v") == Printed())
        #expect(try prefs("get", "-f", file, "A.B.k") == Printed("v\n"))
        #expect(try prefs("unset", "-f", file, "A.B", "--force") == Printed())
        #expect(
            try prefs("export", "-f", file).output
                == "{\n  \"com\": {\n    \"a.b\": 8,\n    \"example\": 7\n  },\n  \"com.example.flag\": true,\n"
                + "  \"org.example[0]\": \"w\"\n}\n")
    }

    /// The former values, a text, and the new value; nil if the text cannot be read as the type of the former one.
    private static let untyped: [(old: String, text: String, new: String?)] = [
        ("true", "false", "false"), ("true", "NO", "false"), ("false", "1", "true"), ("true", "off", "false"),
        ("true", "maybe", nil),
        ("3", "4", "4"), ("3", "4.5", nil), ("3", "x", nil), ("2.5", "4", "4.0"), (#""s""#, "4", #""4""#),
        (#""s""#, "true", #""true""#), (#"{"$data": "SGk="}"#, "SGVsbG8=", #"{"$data": "SGVsbG8="}"#),
        (#"{"$date": "2026-11-20T00:00:00Z"}"#, "2026-11-21T00:00:00Z", #"{"$date": "2026-11-21T00:00:00Z"}"#),
        ("[1]", "[2]", "[\n  2\n]"), ("[1]", "2", nil), ("[1]", "a,b", nil), (#"{"a":1}"#, "a=2", nil),
    ]

    @Test(arguments: untyped, ["d.plist", "d.json"])
    func aValueWithoutATypeKeepsTheTypeOfTheFormerOne(
        row: (old: String, text: String, new: String?), name: String
    ) throws {
        let file = home.path(name)
        #expect(try prefs("set", "-f", file, "KeepAlive", row.old, "-t", "json") == Printed())
        let state = try home.state()
        let printed = try prefs("set", "-f", file, "KeepAlive", row.text)
        guard let new = row.new else {
            #expect(printed.code == 1 && printed.errors.contains("would become a value of type "), "\(printed)")
            #expect(try home.state() == state)
            #expect(try prefs("set", "-f", file, "KeepAlive", row.text, "--force") == Printed())
            return #expect(try prefs("get", "-f", file, "KeepAlive") == Printed(row.text + "\n"))
        }
        #expect(printed == Printed())
        let exported = try prefs("export", "-f", file).output
        #expect(exported.replacing("\n  ", with: "\n") == "{\n\"KeepAlive\": \(new)\n}\n")
    }

    /// A sign in the quotes of a key does not end it, and a value may begin like a key.
    @Test func aKeyInQuotesMayHaveASign() throws {
        let file = home.path("s.json")
        #expect(try prefs("set", "-f", file, #"["a=b"]=1"#, #"c["d]="]["e\"=f"]=2"#) == Printed())
        #expect(try prefs("set", "-f", file, #"["i=j"]"#, "k=4", "-t", "string") == Printed())
        #expect(try prefs("set", "-f", file, "list", #"["l=5"]"#) == Printed())
        let text = try prefs("export", "-f", file).output
        #expect(
            try ExportFormat.value(ofJSON: Data(text.utf8))
                == .dictionary([
                    "a=b": .integer(1), "c": .dictionary(["d]=": .dictionary(["e\"=f": .integer(2)])]),
                    "i=j": .string("k=4"), "list": .array([.string("l=5")]),
                ]))
    }

    /// A JSON file may have any key at its top; a domain of UserDefaults may not.
    @Test func anyKeyAtTheTopOfJSON() throws {
        let file = home.path("k.json")
        for (word, key) in [(#"[""]"#, ""), ("[\"\\ufeffa\"]", "\u{FEFF}a")] {
            #expect(try prefs("set", "-f", file, word, "1", "--dry-run").code == 0)
            #expect(try prefs("set", "-f", file, word, "1") == Printed())
            #expect(try prefs("get", "-f", file, word) == Printed("1\n"))
            let text = try home.text("k.json")
            #expect(try ExportFormat.value(ofJSON: Data(text.utf8)).dictionary?[key] == .integer(1))
            #expect(try prefs("set", "-f", home.path("k.plist"), word, "1").code == 1)
        }
        #expect(try prefs("unset", "-f", file, #"[""]"#) == Printed())
    }

    /// An object or a list is JSON wherever it is given; a scalar follows the elements beside it.
    @Test(arguments: ["d.plist", "d.json"]) func anObjectIsJSONAlsoAmongTexts(name: String) throws {
        let file = home.path(name)
        #expect(try prefs("set", "-f", file, #"texts=["1.9"]"#, "text=a") == Printed())
        #expect(try prefs("set", "-f", file, #"texts[+]={"a":1}"#) == Printed())
        #expect(try prefs("set", "-f", file, "texts[+]=[true]") == Printed())
        #expect(try prefs("set", "-f", file, "texts[0]=2.10") == Printed())
        #expect(try prefs("get", "-f", file, "texts") == Printed("[\"2.10\",{\"a\":1},[true]]\n"))
        let risk = "the string `text` would become a value of type dictionary; --force does it; nothing has changed"
        #expect(try prefs("set", "-f", file, #"text={"b":2}"#) == .failure(risk))
        #expect(try prefs("set", "-f", file, "text", #"{"b":2}"#, "-t", "string") == Printed())
        #expect(try prefs("get", "-f", file, "text") == Printed("{\"b\":2}\n"))
        // What is no JSON is a text.
        #expect(try prefs("set", "-f", file, "text", "[draft]") == Printed())
        #expect(try prefs("get", "-f", file, "text") == Printed("[draft]\n"))
    }

    /// `text` is what `find` prints and `get` reads.
    @Test func backslashesBeforeDotsAndAtTheEndAreKept() throws {
        let names = ["a.b", "a[b", "\\", "\\\\", "a\\.b", "a\\\\.b\\", ".", "[", "a\\b", "é.\u{301}", "..", "\\."]
        let values = Dictionary(uniqueKeysWithValues: names.map { ($0, StoredValue.integer(1)) })
        for name in names {
            #expect(try ValuePath(ValuePath(name).text, in: [:]).root == name)
            #expect(try ValuePath(ValuePath(name).text, in: values).root == name)
            for path in [ValuePath("x", [.key(name)]), ValuePath(name, [.key("x")])] {
                #expect(try ValuePath(path.text, in: [:]) == path)
            }
        }
    }
}
