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

    private static let variables: [WordsRow] = [
        WordsRow(["T_FONT_SIZE=20"], ["fontSize=20"]),
        WordsRow(["T_fontSize=20"], ["fontSize=20"]),
        WordsRow(
            ["T_FONT_SIZE=20", "T_fontSize=30"], ["fontSize=30"],
            problems: ["T_FONT_SIZE: ignored, because T_fontSize is set, too"]),
        WordsRow(
            ["T_FONT_SIZE=20", "T_fontSize=big"],
            problems: [
                #"T_fontSize: expected Int, found "big": not a number"#,
                "T_FONT_SIZE: ignored, because T_fontSize is set, too",
            ]),
        WordsRow(["T_FONT_SIZE=big"], problems: [#"T_FONT_SIZE: expected Int, found "big": not a number"#]),
        WordsRow(["T_FONT_SIZE=501"], problems: ["T_FONT_SIZE: must be in 1...500, found 501"]),
        WordsRow(["T_editor_fontSize=10"], ["editor.fontSize=10"]),
        WordsRow(["T_VERBOSE=yes", "T_IS_FAST=no"], ["isFast=false", "verbose=true"]),
        WordsRow(["T_NO_COLOR=4", "T_COLOR=off"], ["color=false", "noColor=4"]),
        WordsRow(["T_gr__e=2"], ["größe=2"]),
        WordsRow(["T___=x"], ["名前=x"]),
        WordsRow(["T_TITLE="], ["title="]),
        // A mounted secret ends with a newline.
        WordsRow(["T_TITLE=abc\n"], ["title=abc"]),
        WordsRow(["T_TITLE=abc\r\n"], ["title=abc"]),
        WordsRow(["T_TITLE=abc\n\n"], ["title=abc\n"]),
        WordsRow(["T_TITLE=\nabc"], ["title=\nabc"]),
        WordsRow(["T_TITLE=abc\r"], ["title=abc\r"]),
        WordsRow(["T_FONT_SIZE=20\n"], ["fontSize=20"]),
        WordsRow(
            ["T_font_size=20"], problems: [#"T_font_size: no key has this variable; did you mean "T_FONT_SIZE"?"#]),
        WordsRow(["T_TITEL=x"], problems: [#"T_TITEL: no key has this variable; did you mean "T_TITLE"?"#]),
        WordsRow(["T_ELSE=x"], problems: ["T_ELSE: no key has this variable"]),
        WordsRow(["T_no-title=x"], problems: ["T_no-title: no key has this variable"]),
        WordsRow(["FONT_SIZE=20", "t_FONT_SIZE=20"]),
    ]

    private static let arguments: [WordsRow] = [
        WordsRow(["--font-size", "20"], ["fontSize=20"]),
        WordsRow(["--font-size=20"], ["fontSize=20"]),
        WordsRow(["-fontSize", "20"], ["fontSize=20"]),
        WordsRow(["-fontSize", "20", "-fontSize", "30"], ["fontSize=30"]),
        WordsRow(["-fontSize", "20", "--font-size", "30"], ["fontSize=30"]),
        WordsRow(["--font-size=20", "-fontSize", "30"], ["fontSize=30"]),
        WordsRow(["-editor.fontSize", "1"], ["editor.fontSize=1"]),
        WordsRow(["-名前", "x"], ["名前=x"]),
        WordsRow(["--offset", "-5"], ["offset=-5"]),
        WordsRow(["--title=a=b"], ["title=a=b"]),
        WordsRow(["--title="], ["title="]),
        WordsRow(["--title", ""], ["title="]),
        WordsRow(["--title=--verbose"], ["title=--verbose"]),
        WordsRow(["-title", "--verbose"], ["title=--verbose", "verbose=true"]),
        WordsRow(["--title", "--verbose"], ["verbose=true"], problems: ["--title: expected a value after it"]),
        WordsRow(["--title"], problems: ["--title: expected a value after it"]),
        WordsRow(["-title"], problems: ["-title: expected a value after it"]),
        WordsRow(["-title", "x", "-offset"], ["title=x"], problems: ["-offset: expected a value after it"]),
        WordsRow(
            ["-title", "--", "--verbose"],
            problems: ["-title: expected a value after it"], unused: ["--", "--verbose"]),
        WordsRow(["--verbose"], ["verbose=true"]),
        WordsRow(["--verbose", "false"], ["verbose=true"], unused: ["false"]),
        WordsRow(["--verbose=false"], ["verbose=false"]),
        WordsRow(["--verbose=maybe"], problems: [#"--verbose: expected one of true, false, found "maybe""#]),
        WordsRow(["--verbose", "--no-verbose"], ["verbose=false"]),
        WordsRow(["--no-verbose", "x"], ["verbose=false"], unused: ["x"]),
        WordsRow(["--no-verbose=true"], problems: ["--no-verbose: takes no value"]),
        WordsRow(["-verbose", "YES"], ["verbose=true"]),
        WordsRow(["-verbose"], problems: ["-verbose: expected a value after it"]),
        WordsRow(["--is-fast", "--no-is-fast"], ["isFast=false"]),
        // The key noColor wins over the negation of the key color.
        WordsRow(["--no-color", "4"], ["noColor=4"]),
        WordsRow(["--no-color=4", "--color=off"], ["color=false", "noColor=4"]),
        WordsRow(["--", "--font-size", "20"], unused: ["--", "--font-size", "20"]),
        WordsRow(["in", "--font-size", "20", "-x", "out"], ["fontSize=20"], unused: ["in", "-x", "out"]),
        WordsRow(
            ["--fontsize=20"],
            problems: [#"--fontsize: no key has this argument; did you mean "--font-size"?"#], unused: ["--fontsize=20"]
        ),
        WordsRow(
            ["--fontSize", "20"],
            problems: [#"--fontSize: no key has this argument; did you mean "--font-size"?"#],
            unused: ["--fontSize", "20"]),
        WordsRow(
            ["-titel", "x"],
            problems: [#"-titel: no key has this argument; did you mean "-title"?"#], unused: ["-titel", "x"]),
        WordsRow(
            ["--no-verbos"],
            problems: [#"--no-verbos: no key has this argument; did you mean "--no-verbose"?"#], unused: ["--no-verbos"]
        ),
        WordsRow(["--no-title"], unused: ["--no-title"]),
        WordsRow(["-quiet", "-fontSize", "20"], ["fontSize=20"], unused: ["-quiet"]),
        WordsRow(["-5", "--xy", "-", "--quiet"], unused: ["-5", "--xy", "-", "--quiet"]),
    ]

    @Test(arguments: variables)
    private func aVariableIsSpelledSo(_ row: WordsRow) {
        let pairs = row.input.map { word in
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        let layer = PrefsLayer.environment(prefix: "T_", in: Dictionary(uniqueKeysWithValues: pairs))
        row.check(NamePrefs(store: .layered(.memory(), above: [layer])), "environment")
    }

    @Test(arguments: arguments)
    private func anArgumentIsSpelledSo(_ row: WordsRow) {
        let words = ["program"] + row.input
        row.check(NamePrefs(store: .layered(.memory(), above: [.arguments(words)])), words)
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

    /// Each layer says so of its name.
    @Test func twoKeysWithOneNameAreToldByEachLayer() {
        let layers = [
            PrefsLayer.arguments(["p"]), .environment(prefix: "T_", in: [:]), .environment(prefix: "U_", in: [:]),
        ]
        let prefs = TwinPrefs(store: .layered(.memory(), above: layers))
        let names = ["--font-size", "T_FONT_SIZE", "U_FONT_SIZE"]
        #expect(prefs.fontSize == 12 && prefs.lastError?.layerFaults.map(\.path) == names)
        #expect(prefs.problems().map(\.path) == names)
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

    /// Two classes of a program share the arguments.
    @Test func anArgumentOfEitherClassIsUsed() {
        let words = ["p", "--small", "3", "a", "--title", "x", "b"]
        let store = PrefsStore.layered(.memory(), above: [.arguments(words)])
        let (first, second) = (NamePrefs(store: store), LayerPrefs(store: store))
        #expect(PrefsLayer.unusedArguments(by: first, second, in: words) == ["a", "b"])
        #expect(PrefsLayer.unusedArguments(by: second, first, in: words) == ["a", "b"])
        #expect(PrefsLayer.unusedArguments(by: second, in: words) == ["a", "--title", "x", "b"])
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
