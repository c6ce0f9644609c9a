import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import PrefsTool

/// Preferences with everything that a text for an editor shows.
private final class EditPrefs: Prefs, @unchecked Sendable {
    enum Theme: String, CaseIterable, Codable { case light, dark }

    @Pref(.help("The colours of all windows.")) var theme = Theme.light
    @Pref(.in(8...72), .help("In points.\nUsed everywhere.")) var fontSize = 12.0
    @Pref var opened: Date? = nil
    @Pref var limit: Int? = 5
    @Pref("recent files") var recent: [String] = []
    @Pref(.sensitive) var token = ""

    static func program(_ url: URL) -> Program {
        Program(name: "myapp prefs") { EditPrefs(key: $0, values: nil, store: $1 ?? PrefsStore.json(url: url)) }
    }
}

/// `edit` of the settings of a class.
@Suite(.waits) final class EditTests: HarnessSuite {
    private var url: URL { home.folder.file("config.json") }

    override var program: Program? { EditPrefs.program(url) }

    private func write(_ text: String) throws {
        try home.write(text, to: "config.json")
    }

    private func edit(_ script: String, _ arguments: String...) throws -> (printed: Printed, run: EditRun) {
        let run = try EditRun(home, script)
        return (try prefs(["edit"] + arguments, run.environment), run)
    }

    private var file: String { get throws { try String(contentsOf: url, encoding: .utf8) } }

    private static let unchanged = Printed(errors: "myapp prefs: nothing has changed\n")

    /// Only an optional property has no value then.
    @Test func aNullResetsNoOtherProperty() throws {
        try write(#"{"fontSize": 14, "limit": 3}"#)
        let (printed, run) = try edit(#"sed -i 's/"fontSize": [0-9.]*/"fontSize": null/' "$1""#)
        let opened = try run.opened(2)
        #expect(printed.code == 1 && opened.contains("// error: fontSize: "), "\(printed) \(opened)")
        #expect(try file == #"{"fontSize": 14, "limit": 3}"#)
    }

    @Test func theTextHasWhatTheClassDeclares() throws {
        try write(#"{"fontSize": 14, "opened": "2026-11-01", "recent files": ["a", "b"], "token": "hunter2", "x": 1}"#)
        let before = try home.state()
        let (printed, run) = try edit("true")
        #expect(printed == Self.unchanged)
        let path = url.path(percentEncoded: false)
        let lines = try run.opened(1).split(separator: "\n", omittingEmptySubsequences: false)
        let head = lines.prefix { $0 != "{" }
        #expect(
            head.allSatisfy { $0.hasPrefix("// ") } && head.joined(separator: " ").contains("EditPrefs in \(path)."))
        #expect(
            lines.dropFirst(head.count).joined(separator: "\n") == """
                {
                  // The colours of all windows.
                  // Theme, light, dark, default "light"
                  // "theme": "light",

                  // In points.
                  // Used everywhere.
                  // Double, in 8.0...72.0, default 12.0
                  "fontSize": 14.0,

                  // Date?, no default
                  "opened": "2026-11-01T00:00:00Z",

                  // Int?, default 5
                  // "limit": 5,

                  // recent: [String], default []
                  "recent files": [
                    "a",
                    "b"
                  ],

                  // "token" is sensitive and left out. Add it here to set it.
                }

                """)
        #expect(try run.kept.isEmpty)
        for name in ["opened-1", "tmp", "my editor"] { try FileManager.default.removeItem(at: home.folder.file(name)) }
        #expect(try home.state() == before)
    }

    @Test func onlyChangedKeysAreStored() throws {
        try write("{\n  // mine\n  \"opened\": \"2026-11-01\",\n  \"fontSize\": 14, // points\n  \"token\": \"t\"\n}\n")
        let (printed, run) = try edit(#"sed -i -e 's/14.0/16/' -e 's|// "theme": "light"|"theme": "dark"|' "$1""#)
        #expect(printed == Printed())
        #expect(
            try file
                == "{\n  // mine\n  \"opened\": \"2026-11-01\",\n  \"fontSize\": 16, // points\n  \"token\": \"t\",\n  \"theme\": \"dark\"\n}\n"
        )
        #expect(try run.kept.isEmpty && run.count == 1)
        // One undo reverts both.
        let undone = try prefs(["undo"], run.environment)
        #expect(undone.code == 0)
        #expect(try file.contains("\"fontSize\": 14, // points\n  \"token\": \"t\"\n}"))
    }

    @Test func aRemovedLineRestoresTheDefaultAndASecretStays() throws {
        try write(#"{"fontSize": 14, "opened": "2026-11-01", "limit": 3, "token": "hunter2"}"#)
        let (printed, _) = try edit(#"sed -i -e '/"fontSize"/d' -e 's/"opened": .*/"opened": null,/' "$1""#)
        #expect(printed == Printed())
        #expect(try file == #"{"limit": 3, "token": "hunter2"}"#)
    }

    @Test func aSecretIsSetByItsLine() throws {
        try write(#"{"fontSize": 14, "token": "hunter2"}"#)
        let (printed, _) = try edit(#"sed -i 's/^}/"token": "new"}/' "$1""#)
        #expect(printed == Printed())
        #expect(try file == #"{"fontSize": 14, "token": "new"}"#)
        let (_, run) = try edit("true", "--reveal")
        #expect(try run.opened(2).contains(#""token": "new""#))
    }

    @Test func aTypoAndARejectedValueOpenTheEditorAgain() throws {
        try write(#"{"fontSize": 14}"#)
        let (printed, run) = try edit(
            #"""
            case $n in
            1) sed -i 's/14.0,/14.0;/' "$1" ;;
            2) sed -i 's/14.0;/99,/; s|// "limit": 5|"limit": "many"|' "$1" ;;
            3) sed -i 's/99,/18,/' "$1" ;;
            4) sed -i 's/"many"/7/; s/"limits"/"limit"/' "$1" ;;
            esac
            """#)
        #expect(printed == Printed())
        #expect(try run.count == 4)
        #expect(try run.opened(2).contains("\n  // error: expected , or }\n  \"fontSize\": 14.0;\n"))
        let rejected = try run.opened(3)
        #expect(!rejected.contains("expected , or }"))
        #expect(rejected.contains("\n  // error: fontSize: must be in 8.0...72.0\n  \"fontSize\": 99,\n"))
        #expect(rejected.contains("\n  // error: limit: expected Int, found a string\n  \"limit\": \"many\",\n"))
        #expect(try !run.opened(4).contains("must be in"))
        #expect(try file == #"{"fontSize": 18, "limit": 7}"#)
    }

    /// Without a terminal, nobody ends an editor that is wrong each time.
    @Test func aScriptThatIsWrongEachTimeEnds() throws {
        try write(#"{"fontSize": 14}"#)
        let (printed, run) = try edit(#"echo "; $n" >> "$1""#)
        #expect(printed.code == 1 && printed.errors.contains("nothing has changed; your text is in "), "\(printed)")
        #expect(try run.count == 10)
        #expect(try run.keptText().text.hasSuffix("\n; 9\n; 10\n"))
        #expect(try file == #"{"fontSize": 14}"#)
    }

    @Test func anUnknownKeyIsNamed() throws {
        let (printed, run) = try edit(
            #"if [ $n = 1 ]; then sed -i 's/^}/"fontsize": 9}/' "$1"; else sed -i 's/fontsize/fontSize/' "$1"; fi"#)
        #expect(printed == Printed())
        #expect(try run.opened(2).contains("// error: no key `fontsize`; did you mean `fontSize`?\n\"fontsize\": 9}"))
        #expect(try file == "{\n  \"fontSize\": 9.0\n}\n")
    }

    @Test func anUnchangedTextAfterAnErrorGivesUp() throws {
        try write(#"{"fontSize": 14}"#)
        let (printed, run) = try edit(#"[ $n = 1 ] && sed -i 's/14.0/99/' "$1"; true"#)
        let (text, path) = try run.keptText()
        let message = "\(home.path("config.json")): line 13: fontSize: must be in 8.0...72.0; nothing has changed"
        #expect(printed == failure("\(message); your text is in \(path)"))
        #expect(text.contains("\"fontSize\": 99,"))
        #expect(try run.count == 2)
        for (path, mode) in [((path as NSString).deletingLastPathComponent, 0o700), (path, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
        #expect(try file == #"{"fontSize": 14}"#)
    }

    @Test(arguments: [": > \"$1\"", "echo > \"$1\"", "touch \"$1\"", "echo '// mine' >> \"$1\""])
    func nothingIsStored(script: String) throws {
        try write(#"{"fontSize": 14}"#)
        let (printed, run) = try edit(script)
        #expect(printed == (script.hasSuffix(">> \"$1\"") ? Printed() : Self.unchanged))
        #expect(try file == #"{"fontSize": 14}"# && run.count == 1 && run.kept.isEmpty)
    }

    @Test func anEditorThatFailsChangesNothing() throws {
        try write(#"{"fontSize": 14}"#)
        let end = "/bin/sh '\(home.path("my editor"))'; nothing has changed"
        var (printed, run) = try edit("exit 3")
        #expect(try printed == failure("the editor ended with exit code 3: \(end)") && run.kept.isEmpty)
        (printed, run) = try edit(#"sed -i 's/14.0/16/' "$1"; kill -TERM $$"#)
        let path = try run.keptText().path
        #expect(printed == failure("the editor ended with exit code 143: \(end); your text is in \(path)"))
        #expect(try file == #"{"fontSize": 14}"#)
    }

    @Test func aDryRunShowsTheChange() throws {
        try write(#"{"fontSize": 14}"#)
        let (printed, _) = try edit(#"sed -i 's/14.0/16/' "$1""#, "--dry-run")
        #expect(printed == Printed("~ fontSize: 14 → 16\n"))
        #expect(try file == #"{"fontSize": 14}"#)
    }

    @Test func aMalformedFileIsRepairedInItsOwnText() throws {
        let text = "{\r\n  // mine\r\n  \"fontSize\": 14\r\n  \"theme\": \"dark\",\r\n}\r\n"
        try write(text)
        let (hidden, none) = try edit("true")
        #expect(hidden.errors.contains("line 4") && !hidden.errors.contains("\"theme\""))
        #expect(try hidden.code == 1 && none.count == 0)
        let (printed, run) = try edit(#"sed -i 's/14/15,/' "$1""#, "--reveal")
        #expect(
            try run.opened(1)
                == text.replacing("  \"theme\"", with: "  // error: expected , or }\r\n  \"theme\""), "\(printed)")
        #expect(printed == Printed())
        #expect(try file == text.replacing("14", with: "15,"))
        #expect(EditPrefs(store: .json(url: url)).fontSize == 15)
        #expect(try !home.folder.names().contains { $0.contains("corrupt") })
        #expect(try prefs(["undo", "--reveal"], run.environment).code == 0)
        #expect(try file == text)
    }

    @Test func layersAreShownAndNotStored() throws {
        try write(#"{"fontSize": 14}"#)
        let layers = [PrefsLayer.environment(prefix: "APP_", in: ["APP_FONT_SIZE": "9"])]
        let store = PrefsStore.layered(.json(url: url), above: layers)
        let program = Program(name: "myapp prefs") { root, _ in EditPrefs(key: root, values: nil, store: store) }
        let run = try EditRun(home, "true")
        #expect(try CommandRun(environment: run.environment).run(["edit"], of: program) == Self.unchanged)
        let text = try run.opened(1)
        #expect(text.contains("  // Set by environment.\n") && text.contains("  // \"fontSize\": 9,\n"), "\(text)")
        #expect(try file == #"{"fontSize": 14}"#)
    }
}
