import PersistentPreferences
import PrefsJSON

/// What texts stand for: the one table of the grammar.
///
/// A text comes from the command line, the environment, an argument or the editor; the declared type decides what it means. In a JSON
/// file, the type decides too, but numbers, Booleans, lists and objects are those of JSON. `TextTableTests` drives each row through
/// every path. The article "Layers" has the grammar for users.
struct TextRow: Sendable {
    enum Meaning: Sendable, Equatable {
        /// The stored value as the JSON of an export.
        case value(String)
        /// Why the text is rejected.
        case message(String)
        /// Why a part of the text is rejected: the path from the key to the part, and the reason.
        case flaw(String)
        /// nil: the tool and the editor remove the value. A layer cannot, and rejects the text with this message.
        case removal(String)
        /// A value for a layer. In the tool, the word stands for nil, and quotes make it a text.
        case valueOfLayer(String)
    }

    /// A key of `EveryTypePrefs`.
    let key: String
    let text: String
    let meaning: Meaning
    /// Other ways to write the value in a JSON file. The JSON of an export is always one.
    let json: [String]
    /// Whether the tool takes the text as an increment.
    var isIncrement: Bool { text.hasPrefix("+") }

    init(_ key: String, _ text: String, _ value: String, json: String...) {
        (self.key, self.text, self.meaning, self.json) = (key, text, .value(value), json)
    }

    init(_ key: String, _ text: String, rejected message: String) {
        (self.key, self.text, self.meaning, self.json) = (key, text, .message(message), [])
    }

    init(_ key: String, _ text: String, flaw message: String) {
        (self.key, self.text, self.meaning, self.json) = (key, text, .flaw(message), [])
    }

    init(_ key: String, _ text: String, ofLayer value: String) {
        (self.key, self.text, self.meaning, self.json) = (key, text, .valueOfLayer(value), [])
    }

    init(_ key: String, _ text: String, removesElse message: String) {
        (self.key, self.text, self.meaning, self.json) = (key, text, .removal(message), [])
    }
}

enum TextTable {
    static let rows = numbers + booleans + strings + dates + data + lists + dictionaries + choices + optionals

    private static let numbers = [
        TextRow("int", "0", "0"), TextRow("int", "1", "1", json: "1.0"), TextRow("int", "-5", "-5"),
        TextRow("int", " 42 ", "42"), TextRow("int", "4.2e1", "42.0"),
        TextRow("int", "9223372036854775807", "9223372036854775807"),
        TextRow("int", "-9223372036854775808", "-9223372036854775808"),
        TextRow("uint64", "18446744073709551615", "18446744073709551615"), TextRow("uint8", "255", "255"),
        TextRow("double", "1", "1", json: "1.0"), TextRow("double", "-1.25", "-1.25"),
        TextRow("double", "1e3", "1000.0"), TextRow("double", "nan", #"{"$double":"nan"}"#),
        TextRow("double", "inf", #"{"$double":"inf"}"#), TextRow("double", "-inf", #"{"$double":"-inf"}"#),
        TextRow("decimal", "1.10", #""1.10""#, json: "1.1"), TextRow("points", "8", "8"),
        TextRow("int", "many", rejected: #"expected Int, found "many": not a number"#),
        TextRow("int", "", rejected: #"expected Int, found "": not a number"#),
        TextRow("int", "true", rejected: #"expected Int, found "true": not a number"#),
        TextRow("int", "+9", rejected: #"expected Int, found "+9": not a number"#),
        TextRow("int", "1\n2", rejected: #"expected Int, found "1\n2": not a number"#),
        TextRow("int", "a\u{1B}[0m\n", rejected: #"expected Int, found "a\u{1b}[0m\n": not a number"#),
        TextRow(
            "int", String(repeating: "x", count: 200),
            rejected: "expected Int, found \"\(String(repeating: "x", count: 40))…\": not a number"),
        TextRow("int", "4.5", rejected: #"expected Int, found "4.5": not a whole number"#),
        TextRow(
            "int", "9223372036854775808",
            rejected:
                #"expected Int, found "9223372036854775808": out of range for Int (-9223372036854775808...9223372036854775807)"#
        ),
        TextRow("int8", "300", rejected: #"expected Int8, found "300": out of range for Int8 (-128...127)"#),
        TextRow("int8", "-1e3", rejected: #"expected Int8, found "-1e3": out of range for Int8 (-128...127)"#),
        TextRow("double", "1,5", rejected: #"expected Double, found "1,5": not a number"#),
        TextRow("points", "99", rejected: "must be in 8...72, found 99"),
        TextRow("factor", "3", rejected: "must be one of 1.5, 2.0, found 3"),
        TextRow("factor", "x", rejected: #"expected one of 1.5, 2.0, found "x""#),
    ]

    private static let booleans =
        ["true", "YES", "on", "1"].map { TextRow("bool", $0, $0 == "1" ? "1" : "true") }
        + ["false", "No", "off", "0"].map { TextRow("bool", $0, $0 == "0" ? "0" : "false") }
        + [TextRow("bool", "2", rejected: #"expected one of true, false, found "2""#)]

    private static let strings = [
        TextRow("string", "", #""""#), TextRow("string", "42", #""42""#), TextRow("string", "true", #""true""#),
        TextRow("string", "null", #""null""#), TextRow("string", " a ", #"" a ""#),
        TextRow("string", "a,b", #""a,b""#), TextRow("string", "[1]", #""[1]""#),
        TextRow("string", #"["a""#, #""[\"a\"""#), TextRow("string", "one\ntwo\n", #""one\ntwo\n""#),
        TextRow("string", "--json", #""--json""#), TextRow("string", "é 世界", #""é 世界""#),
        TextRow("url", "https://a.org/b", #""https://a.org/b""#), TextRow("url", "b", #""b""#),
        TextRow("wait", "PT1M30S", #""PT1M30S""#), TextRow("wait", "90s", #""90s""#, json: "90"),
        TextRow("free", "42", #""42""#),
        TextRow("name", "", rejected: #"must be at least 1 character long, found """#),
        TextRow("language", "fr", rejected: #"must be one of de, en, found "fr""#),
        TextRow("uuid", "x", rejected: #"expected UUID (such as 00010203-0405-0607-0809-0A0B0C0D0E0F), found "x""#),
    ]

    private static func date(_ text: String, _ stored: String) -> TextRow {
        TextRow("date", text, #"{"$date":"\#(stored)"}"#, json: "\"\(text)\"")
    }

    private static let dates = [
        date("2026-11-20", "2026-11-20T00:00:00Z"), date("2024-02-29", "2024-02-29T00:00:00Z"),
        date("0001-01-01", "0001-01-01T00:00:00Z"), date("2026-11-20T08:30:00Z", "2026-11-20T08:30:00Z"),
        date("2026-11-20T08:30:00.25Z", "2026-11-20T08:30:00.25Z"),
        date("1965-01-31T23:59:59.999Z", "1965-01-31T23:59:59.999Z"),
        date("2026-11-20T08:30:00+01:00", "2026-11-20T07:30:00Z"),
        date("2026-11-20T00:30:00+0130", "2026-11-19T23:00:00Z"),
        date("2026-11-20T23:30:00-08", "2026-11-21T07:30:00Z"),
        date("2026-11-20T08:30:00.5-03:30", "2026-11-20T12:00:00.5Z"),
        TextRow("date", #"{"$date": 1.0}"#, #"{"$date":"2001-01-01T00:00:01Z"}"#, json: "1", "1.0"),
        badDate("soon"), badDate("2026-02-30"), badDate("20.11.2026"),
    ]

    private static func badDate(_ text: String) -> TextRow {
        TextRow(
            "date", text,
            rejected: "expected Date (such as 2026-11-23 or 2026-11-23T10:00:00Z), found \"\(text)\"")
    }

    private static let data = [
        TextRow("data", "SGVsbG8=", #"{"$data":"SGVsbG8="}"#, json: #""SGVsbG8=""#, "[72, 101, 108, 108, 111]"),
        TextRow("data", "", #"{"$data":""}"#, json: #""""#, "[]"),
        TextRow("data", "?", rejected: #"expected Data (such as SGVsbG8=, which is base64), found "?""#),
    ]

    private static let lists = [
        TextRow("strings", "a,b", #"["a","b"]"#), TextRow("strings", " a , b ", #"["a","b"]"#),
        TextRow("strings", "a", #"["a"]"#), TextRow("strings", "", "[]"), TextRow("strings", "[]", "[]"),
        TextRow("strings", "a,,b", #"["a","","b"]"#), TextRow("strings", ",", #"["",""]"#),
        TextRow("strings", "1,2", #"["1","2"]"#), TextRow("strings", #"["a,b", "c"]"#, #"["a,b","c"]"#),
        TextRow("strings", #"[ "" ]"#, #"[""]"#), TextRow("strings", #"["a\nb","a/b","世"]"#, #"["a\nb","a/b","世"]"#),
        TextRow("strings", "a,\u{301}b", "[\"a\",\"\u{301}b\"]"), TextRow("numbers", "1,2", "[1,2]"),
        TextRow("numbers", "5", "[5]"), TextRow("numbers", "", "[]"), TextRow("numbers", "[1, 2]", "[1,2]"),
        TextRow("names", "red", #"["red"]"#), TextRow("set", "2,1", "[2,1]"),
        TextRow("doubles", "1, nan", #"[1,{"$double":"nan"}]"#),
        TextRow("numbers", "1,x", rejected: #"expected Array<Int>, found "1,x""#),
        TextRow("words", "[1]", flaw: "[0]: expected String, found an integer"),
        TextRow(
            "numbers", "[1,",
            rejected:
                #"expected Array<Int>, found "[1,": invalid JSON: line 1, column 4: expected a value before the end of the data (at [1])"#
        ),
    ]

    private static let dictionaries = [
        TextRow("anything", "k=v", #"{"k":"v"}"#), TextRow("anything", "b=2,a=x", #"{"a":"x","b":"2"}"#),
        TextRow("anything", "", "{}"), TextRow("anything", "{}", "{}"), TextRow("anything", "k=", #"{"k":""}"#),
        TextRow("anything", "=v", #"{"":"v"}"#), TextRow("anything", "k=a=b", #"{"k":"a=b"}"#),
        TextRow("anything", "k = v", #"{"k ":" v"}"#), TextRow("anything", #"{"k":"a,b=c"}"#, #"{"k":"a,b=c"}"#),
        TextRow("server", #"{"port": 8}"#, #"{"port":8}"#),
        TextRow("server", #"{"port": "x"}"#, flaw: ".port: expected UInt16, found a string"),
    ]

    private static let choices = [
        TextRow("size", "large", #""large""#), TextRow("level", "10", "10"), TextRow("mode", "dark", #"{"dark":{}}"#),
        TextRow("mode", #"{"dark": {}}"#, #"{"dark":{}}"#), TextRow("width", "auto", #""auto""#),
        TextRow("width", "12", "12"), TextRow("channel", "sport", #""sport""#),
        TextRow("size", "huge", rejected: #"expected one of small, large, found "huge""#),
        TextRow("lightMode", "x", rejected: #"expected one of light, found "x""#),
        TextRow("lightMode", "dark", rejected: "must not be dark, found dark"),
    ]

    private static let optionals = [
        TextRow("optionalInt", "7", "7"), TextRow("optionalString", "null", ofLayer: #""null""#),
        TextRow("optionalData", "null", ofLayer: #"{"$data":"null"}"#), TextRow("doubleOptional", "$null", #""$null""#),
        TextRow("optionalInt", "x", rejected: #"expected Int, found "x": not a number"#),
        TextRow("optionalInt", "null", removesElse: #"expected Int, found "null": not a number"#),
        TextRow("optionalSize", "null", removesElse: #"expected one of small, large, found "null""#),
        TextRow("needed", "null", rejected: #"expected Int, found "null": not a number"#),
    ]
}
