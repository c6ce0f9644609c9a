import Foundation
import PersistentPreferences
import PrefsPropertyLists
import Testing

@testable import PrefsLayers

/// A key of each shape that names are derived from.
final class NamePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(1...500)) var fontSize = 12
    @Pref("HTTPPort") var port = 80
    @Pref("editor.fontSize") var editorSize = 9
    @Pref var title = "none"
    @Pref var verbose = false
    @Pref var isFast: Bool?
    @Pref var noColor = 3
    @Pref var color = true
    @Pref var offset = 0
    @Pref("größe") var height = 1
    @Pref("名前") var name = ""
}

/// Every spelling of variables and options, and what it means.
@Suite struct LayerNameTests {
    @Test(arguments: [
        ("fontSize", "FONT_SIZE", "font-size"), ("HTTPPort", "HTTP_PORT", "http-port"),
        ("editor.fontSize", "EDITOR_FONT_SIZE", "editor-font-size"), ("columns", "COLUMNS", "columns"),
        ("FONT_SIZE", "FONT_SIZE", "font-size"), ("font-size", "FONT_SIZE", "font-size"),
        ("URL", "URL", "url"), ("baseURL", "BASE_URL", "base-url"),
        ("parseHTMLText", "PARSE_HTML_TEXT", "parse-html-text"),
        ("aB", "A_B", "a-b"), ("ABc", "A_BC", "a-bc"), ("x2", "X2", "x2"), ("utf8Name", "UTF8_NAME", "utf8-name"),
        ("sha256", "SHA256", "sha256"), ("MP3Player", "MP3_PLAYER", "mp3-player"), ("_private", "PRIVATE", "private"),
        ("a..b ", "A_B", "a-b"), ("größe", "GR_E", "gr-e"), ("2fa", "2FA", "2fa"), ("2Fast", "2_FAST", "2-fast"),
        ("base64URL", "BASE64_URL", "base64-url"), ("H2O", "H2O", "h2o"),
        ("IPv4Address", "I_PV4_ADDRESS", "i-pv4-address"),
    ])
    func wordsOfAKeyAreFound(_ key: String, _ variable: String, _ option: String) {
        #expect(KeyWords(key).variable == variable)
        #expect(KeyWords(key).option == option)
        // A derived name has the same words.
        #expect(KeyWords(variable).variable == variable)
    }

    @Test(arguments: ["", "名前", "--", "."])
    func aKeyWithoutWordsHasNoDerivedName(_ key: String) {
        #expect(KeyWords(key).variable == nil && KeyWords(key).option == nil)
    }

    private struct Row: CustomTestStringConvertible, Sendable {
        /// The variables, `A=1 B=2`, or the arguments.
        let input: [String]
        /// The values that differ from the defaults: `fontSize=20`, sorted.
        let values: [String]
        /// The faults and notes: `place: reason`.
        let problems: [String]
        /// The arguments that are handed out.
        let unused: [String]

        init(_ input: [String], _ values: [String] = [], problems: [String] = [], unused: [String] = []) {
            (self.input, self.values, self.problems, self.unused) = (input, values, problems, unused)
        }

        var testDescription: String { input.joined(separator: " ") }
    }

    private static let variables: [Row] = [
        Row(["T_FONT_SIZE=20"], ["fontSize=20"]),
        Row(["T_fontSize=20"], ["fontSize=20"]),
        Row(
            ["T_FONT_SIZE=20", "T_fontSize=30"], ["fontSize=30"],
            problems: ["T_FONT_SIZE: ignored, because T_fontSize is set, too"]),
        Row(
            ["T_FONT_SIZE=20", "T_fontSize=big"],
            problems: [
                #"T_fontSize: expected Int, found "big": not a number"#,
                "T_FONT_SIZE: ignored, because T_fontSize is set, too",
            ]),
        Row(["T_FONT_SIZE=big"], problems: [#"T_FONT_SIZE: expected Int, found "big": not a number"#]),
        Row(["T_FONT_SIZE=501"], problems: ["T_FONT_SIZE: must be in 1...500, found 501"]),
        Row(["T_editor_fontSize=10"], ["editor.fontSize=10"]),
        Row(["T_VERBOSE=yes", "T_IS_FAST=no"], ["isFast=false", "verbose=true"]),
        Row(["T_NO_COLOR=4", "T_COLOR=off"], ["color=false", "noColor=4"]),
        Row(["T_gr__e=2"], ["größe=2"]),
        Row(["T___=x"], ["名前=x"]),
        Row(["T_TITLE="], ["title="]),
        // A mounted secret ends with a newline.
        Row(["T_TITLE=abc\n"], ["title=abc"]),
        Row(["T_TITLE=abc\r\n"], ["title=abc"]),
        Row(["T_TITLE=abc\n\n"], ["title=abc\n"]),
        Row(["T_TITLE=\nabc"], ["title=\nabc"]),
        Row(["T_TITLE=abc\r"], ["title=abc\r"]),
        Row(["T_FONT_SIZE=20\n"], ["fontSize=20"]),
        Row(["T_font_size=20"], problems: [#"T_font_size: no key has this variable; did you mean "T_FONT_SIZE"?"#]),
        Row(["T_TITEL=x"], problems: [#"T_TITEL: no key has this variable; did you mean "T_TITLE"?"#]),
        Row(["T_ELSE=x"], problems: ["T_ELSE: no key has this variable"]),
        Row(["T_no-title=x"], problems: ["T_no-title: no key has this variable"]),
        Row(["FONT_SIZE=20", "t_FONT_SIZE=20"]),
    ]

    private static let arguments: [Row] = [
        Row(["--font-size", "20"], ["fontSize=20"]),
        Row(["--font-size=20"], ["fontSize=20"]),
        Row(["-fontSize", "20"], ["fontSize=20"]),
        Row(["-fontSize", "20", "-fontSize", "30"], ["fontSize=30"]),
        Row(["-fontSize", "20", "--font-size", "30"], ["fontSize=30"]),
        Row(["--font-size=20", "-fontSize", "30"], ["fontSize=30"]),
        Row(["-editor.fontSize", "1"], ["editor.fontSize=1"]),
        Row(["-名前", "x"], ["名前=x"]),
        Row(["--offset", "-5"], ["offset=-5"]),
        Row(["--title=a=b"], ["title=a=b"]),
        Row(["--title="], ["title="]),
        Row(["--title", ""], ["title="]),
        Row(["--title=--verbose"], ["title=--verbose"]),
        Row(["-title", "--verbose"], ["title=--verbose", "verbose=true"]),
        Row(["--title", "--verbose"], ["verbose=true"], problems: ["--title: expected a value after it"]),
        Row(["--title"], problems: ["--title: expected a value after it"]),
        Row(["-title"], problems: ["-title: expected a value after it"]),
        Row(["-title", "x", "-offset"], ["title=x"], problems: ["-offset: expected a value after it"]),
        Row(
            ["-title", "--", "--verbose"],
            problems: ["-title: expected a value after it"], unused: ["--", "--verbose"]),
        Row(["--verbose"], ["verbose=true"]),
        Row(["--verbose", "false"], ["verbose=true"], unused: ["false"]),
        Row(["--verbose=false"], ["verbose=false"]),
        Row(["--verbose=maybe"], problems: [#"--verbose: expected one of true, false, found "maybe""#]),
        Row(["--verbose", "--no-verbose"], ["verbose=false"]),
        Row(["--no-verbose", "x"], ["verbose=false"], unused: ["x"]),
        Row(["--no-verbose=true"], problems: ["--no-verbose: takes no value"]),
        Row(["-verbose", "YES"], ["verbose=true"]),
        Row(["-verbose"], problems: ["-verbose: expected a value after it"]),
        Row(["--is-fast", "--no-is-fast"], ["isFast=false"]),
        // The key noColor wins over the negation of the key color.
        Row(["--no-color", "4"], ["noColor=4"]),
        Row(["--no-color=4", "--color=off"], ["color=false", "noColor=4"]),
        Row(["--", "--font-size", "20"], unused: ["--", "--font-size", "20"]),
        Row(["in", "--font-size", "20", "-x", "out"], ["fontSize=20"], unused: ["in", "-x", "out"]),
        Row(
            ["--fontsize=20"],
            problems: [#"--fontsize: no key has this argument; did you mean "--font-size"?"#], unused: ["--fontsize=20"]
        ),
        Row(
            ["--fontSize", "20"],
            problems: [#"--fontSize: no key has this argument; did you mean "--font-size"?"#],
            unused: ["--fontSize", "20"]),
        Row(
            ["-titel", "x"],
            problems: [#"-titel: no key has this argument; did you mean "-title"?"#], unused: ["-titel", "x"]),
        Row(
            ["--no-verbos"],
            problems: [#"--no-verbos: no key has this argument; did you mean "--no-verbose"?"#], unused: ["--no-verbos"]
        ),
        Row(["--no-title"], unused: ["--no-title"]),
        Row(["-quiet", "-fontSize", "20"], ["fontSize=20"], unused: ["-quiet"]),
        Row(["-5", "--xy", "-", "--quiet"], unused: ["-5", "--xy", "-", "--quiet"]),
    ]

    @Test(arguments: variables)
    private func aVariableIsSpelledSo(_ row: Row) {
        let pairs = row.input.map { word in
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        let layer = PrefsLayer.environment(prefix: "T_", in: Dictionary(uniqueKeysWithValues: pairs))
        check(row, NamePrefs(store: .layered(.memory(), above: [layer])), "environment")
    }

    @Test(arguments: arguments)
    private func anArgumentIsSpelledSo(_ row: Row) {
        let words = ["program"] + row.input
        let prefs = NamePrefs(store: .layered(.memory(), above: [.arguments(words)]))
        check(row, prefs, "arguments")
        #expect(PrefsLayer.unusedArguments(by: prefs, in: words) == row.unused)
    }

    private func check(_ row: Row, _ prefs: NamePrefs, _ layer: String) {
        let faults = prefs.lastError?.layerFaults ?? []
        #expect(prefs.values.map { "\($0)=\($1)" }.sorted() == row.values)
        let problems = prefs.problems().map(\.description)
        #expect(problems == row.problems.map { $0.replacing(": ", with: ": \(layer): ", maxReplacements: 1) })
        #expect(problems.starts(with: faults.map { "\($0.path): \($0.layer ?? ""): \($0.reason)" }))
        for value in row.values {
            let key = String(value.prefix { $0 != "=" })
            #expect(prefs.source(ofKey: key) == .layer(layer))
        }
    }

    @Test func aRejectedWriteNamesWhatThePersonHasSet() {
        let layers = [
            PrefsLayer.arguments(["p", "--no-verbose", "--http-port=1", "-offset", "1"]),
            .environment(prefix: "T_", in: ["T_FONT_SIZE": "20", "T_title": "x"]),
        ]
        let prefs = NamePrefs(store: .layered(.memory(), above: layers))
        for (key, value, place) in [
            ("fontSize", 30 as Any, "T_FONT_SIZE"), ("title", "y", "T_title"), ("verbose", true, "--no-verbose"),
            ("HTTPPort", 2, "--http-port"), ("offset", 2, "-offset"),
        ] {
            prefs[key] = value
            #expect(prefs.lastError?.coveredKeys.map(\.path) == [place])
        }
    }

    private final class TwinPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var fontSize = 12
        @Pref("font-size") var other = 13
        @Pref var title = "none"
    }

    /// The error does not depend on what the user has set.
    @Test func twoKeysWithOneNameAreRejectedAtOnce() {
        let layers: [(PrefsLayer, String, String)] = [
            (.environment(prefix: "T_", in: ["T_FONT_SIZE": "20", "T_TITLE": "x"]), "T_FONT_SIZE", "variable"),
            (.environment(prefix: "T_", in: ["T_TITLE": "x"]), "T_FONT_SIZE", "variable"),
            (.arguments(["p", "--font-size", "20", "--title=x"]), "--font-size", "option"),
            (.arguments(["p", "--title=x"]), "--font-size", "option"),
        ]
        for (layer, name, kind) in layers {
            let prefs = TwinPrefs(store: .layered(.memory(), above: [layer]))
            let fault = PrefsProblem(
                layer: layer.name, place: name,
                reason: #"the keys "fontSize" and "font-size" have one \#(kind); give one of them another key"#,
                kind: .unknownKey)
            #expect(prefs.lastError == .ignoredInLayer([fault]))
            #expect(prefs.fontSize == 12 && prefs.lastError == .ignoredInLayer([fault]))
            #expect(prefs.other == 13)
            #expect(prefs.title == "x" && prefs.lastError == nil)
            #expect(prefs.problems().map(\.path) == [name])
        }
        // The exact names are different.
        let exact = PrefsLayer.environment(prefix: "T_", in: ["T_fontSize": "20", "T_font_size": "30"])
        let prefs = TwinPrefs(store: .layered(.memory(), above: [exact]))
        #expect(prefs.fontSize == 20 && prefs.other == 30)
    }

    private final class FreeTwinPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var fontSize = 12
        override var allowedKeys: [String] { ["font-size"] }
    }

    @Test func aKeyWithoutADeclarationTakesNoNameFromADeclaredOne() {
        let layer = PrefsLayer.environment(prefix: "T_", in: ["T_FONT_SIZE": "20"])
        let prefs = FreeTwinPrefs(store: .layered(.memory(), above: [layer]))
        #expect(prefs["font-size"] == nil)
        #expect(prefs.lastError?.layerFaults.map(\.path) == ["T_FONT_SIZE"])
    }

    /// Keys without declarations have names, too. Their values are strings.
    @Test func listedKeysHaveNames() {
        let words = ["p", "--plain", "42", "-font.size", "10"]
        let prefs = LayerPrefs(
            store: .layered(.memory(), above: [.arguments(words), .variables(["APP_FONT_SIZE": "11"])]))
        #expect(prefs["plain"] as? String == "42" && prefs.values["plain"] as? String == "42")
        #expect(prefs.fontSize == 10)
        #expect(prefs.problems() == [])
        #expect(PrefsLayer.unusedArguments(by: prefs, in: words) == [])
        #expect(PrefsLayer.unusedArguments(in: ["p", "-font.size", "10"]) == ["-font.size", "10"])
        prefs["plain"] = "43"
        #expect(prefs.lastError?.coveredKeys == [PrefsProblem(covered: "plain", by: "arguments", place: "--plain")])
    }

    /// Two classes of a program share the environment.
    @Test func aVariableOfAnotherClassIsKnown() {
        let layer = PrefsLayer.environment(prefix: "T_", in: ["T_TITLE": "x", "T_SMALL": "3"])
        let store = PrefsStore.layered(.memory(), above: [layer])
        let first = NamePrefs(store: store)
        #expect(first.problems().map(\.path) == ["T_SMALL"])
        #expect(LayerPrefs(store: store).small == 3)
        #expect(first.problems() == [])
    }

    @Test func withoutAPrefixOtherVariablesAreNoProblem() {
        let layer = PrefsLayer.environment(prefix: "", in: ["TITEL": "x", "PATH": "/bin", "FONT_SIZE": "20"])
        let prefs = NamePrefs(store: .layered(.memory(), above: [layer]))
        #expect(prefs.fontSize == 20)
        #expect(prefs.problems() == [])
    }
}
