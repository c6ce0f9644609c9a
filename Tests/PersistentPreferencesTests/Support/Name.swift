import Testing

@testable import PrefsPropertyLists

/// A name that is rejected, and the reason.
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
