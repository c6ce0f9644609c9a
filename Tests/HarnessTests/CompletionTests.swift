import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// The completions that the program offers for a word.
@Suite(.waits) final class CompletionTests: HarnessSuite {
    private func offers(_ words: [String], of program: Program = AppPrefs.program) -> [String] {
        WordCompleter(of: program, before: words.dropLast(), word: words.last ?? "").candidates.map(\.text)
            .filter { $0.hasPrefix(words.last ?? "") }
    }

    private static let rows: [(words: [String], offers: [String])] = [
        (["ex"], ["export"]),
        (["get", ""], ["theme", "fontSize", "wraps", "user"]),
        (["get", "us"], ["user"]),
        // A key is offered if the name of the property does not begin with the word.
        (["get", "user "], ["user name"]),
        (["--root", "R", "get", "f"], ["fontSize"]),
        (["--root=R", "get", "f"], ["fontSize"]),
        (["set", "theme", ""], ["light", "dark", "solarized"]),
        (["set", "wraps", ""], ["true", "false"]),
        (["set", "fontSize", ""], []),
        (["set", "theme=d"], ["theme=dark"]),
        (["set", "theme=dark", "w"], ["wraps"]),
        (["set", "theme=dark", "wraps=f"], ["wraps=false"]),
        (["set", "wraps", "-t", "b"], ["boolean"]),
        (["set", "-t", "string", "fo"], ["fontSize"]),
        (["unset", "--a"], ["--all"]),
        (["show", "theme", "w"], ["wraps"]),
        (["find", ""], []),
        // A key that is given is not offered again.
        (["unset", "theme", ""], ["fontSize", "wraps", "user"]),
        (["help", "th"], ["theme"]),
        (["help", "do"], ["doctor"]),
        (["completions", ""], ["bash", "zsh", "fish"]),
        (["export", "--format", ""], ["json", "xml", "binary"]),
        (["export", "--format=x"], ["--format=xml"]),
        (["import", "--dry"], ["--dry-run"]),
        (["import", "--dry-run", "--dry"], []),
        (["get", "--dry"], []),
        (["get", "--", "--"], []),
        (["nope", ""], []),
        (["--nope", "get", "th"], ["theme"]),
        (["stress", "-"], []),
    ]

    @Test(arguments: rows) func theProgramOffers(words: [String], expected: [String]) {
        #expect(offers(words) == expected)
    }

    @Test(arguments: PrefsCommands.all.map(\.name)) func everyCommandOffersItsOptions(name: String) throws {
        let spec = try #require(PrefsCommands.all.first { $0.name == name })
        let program = PrefsCommands.program
        #expect(Set(offers([spec.name, "-"], of: program)) == Set(program.options.filter(spec.accepts).map(\.name)))
    }

    @Test func rootsAndKeysComeFromTheFile() throws {
        let path = try home.write(["B": ["two": 2, "one": 1], "A x": [:], "C": 1] as [String: Any], to: "d.plist").path
        let program = Program(name: "prefs", commands: PrefsCommands.all, make: AppPrefs.program.make)
        #expect(offers(["get", path, ""], of: program) == ["A x", "B", "C"])
        #expect(offers(["get", "-f", path, "B."], of: program) == ["B.one", "B.two"])
        #expect(offers(["-f", path, "--root", ""], of: program) == ["A x", "B"])
        let deep = try home.write(["a": ["b": ["c": ["d": 1, "e": 2]]]], to: "deep.plist").path
        #expect(offers(["get", "-f", deep, "a.b."], of: program) == ["a.b.c"])
        #expect(offers(["get", "-f", deep, "a.b.c.e"], of: program) == ["a.b.c.e"])
        #expect(offers(["get", "-f", path, "--root=B"], of: program) == ["--root=B"])
        #expect(offers(["export", "-f", path, "--root", "A"], of: program) == ["A x"])
    }

    @Test func suitesAreThoseOfTheHome() throws {
        _ = try home.writeSuite("com.example.one")
        _ = try home.write(Data(), to: ".config/.hidden.plist")
        let printed = try prefs("complete-words", "zsh", "diff", "")
        #expect(printed == Printed("files\0com.example.one\0\0"))
        #expect(try prefs("complete-words", "fish", "-f", "") == Printed("files\0com.example.one\0"))
    }

    @Test func withoutACommandTheGeneralOptionsAreOffered() {
        let program = PrefsCommands.program
        #expect(offers(["--ver"], of: program) == ["--version"] && offers(["--he"], of: program) == ["--help"])
        #expect(offers(["show", "--ver"], of: program) == [])
    }

    /// fish would expand a tilde, and read a tab as the beginning of the note.
    @Test func whatFishWouldChangeIsNotOffered() throws {
        let path = try home.write(["~a": 1, "a\tb": 2, "c~": 3], to: "d.plist").path
        #expect(try prefs("complete-words", "fish", "get", "-f", path, "") == Printed("words\0c~\tinteger\0"))
        let all = try prefs("complete-words", "zsh", "get", "-f", path, "")
        #expect(all == Printed("words\0a\tb\0integer\0c~\0integer\0~a\0integer\0"))
    }

    @Test func completingWritesNothingAndSaysNothing() throws {
        for words in [
            ["zsh", "get", ""], ["fish", "--root", ""], ["bash", "1", "prefs get ", " "], ["ksh", "x"], [],
        ] {
            let printed = try prefs(["complete-words"] + words)
            #expect(printed.code == 0 && printed.errors == "", "\(words): \(printed)")
        }
        #expect(try home.folder.names() == [])
        #expect(try !prefs("help").output.contains("complete-words"))
    }

    // MARK: - bash

    private static let breaks = " \t\n\"'><=;|&(:"

    private static let lines: [(line: String, text: String, insertion: String?)] = [
        ("prefs get In", "Integer Value", #"Integer\ Value"#),
        (#"prefs get Integer\ V"#, "Integer Value", #"Integer\ Value"#),
        ("prefs get 'Int", "Integer Value", "Integer Value"),
        ("prefs get \"Int", "Integer Value", "Integer Value"),
        ("prefs get ", "it's", #"it\'s"#),
        ("prefs get '", "it's", #"it'\''s"#),
        ("prefs get \"", "it's \"$x\" !`\\", "it's \\\"\\$x\\\" \"'!'\"\\`\\\\"),
        ("prefs get ", "a\nb", #"a$'\012'b"#),
        ("prefs get '", "a\nb", #"a'$'\012''b"#),
        ("prefs get \"", "a\nb", #"a"$'\012'"b"#),
        ("prefs --root=R", "--root=Root", "Root"),
        ("prefs --root='R", "--root=Root x", "Root x"),
        ("prefs read x co:", "co:lon", "lon"),
        (#"prefs read x co\:l"#, "co:lon", "co:lon"),
        ("prefs get x", "y", nil),
        // readline would not close these quotes.
        ("prefs get '", "it'", nil), ("prefs get \"", "!x", nil), ("prefs get \"", "a\"", nil),
        // Quotes that end within the word: bash would keep them.
        ("prefs get 'Int'e", "Integer Value", nil),
        ("prefs get Int\"e", "Integer Value", nil),
    ]

    @Test(arguments: lines) func bashInserts(line: String, text: String, insertion: String?) {
        #expect(ShellLine(line, breaks: Self.breaks).insertion(text) == insertion)
    }

    @Test(arguments: [
        ("prefs  get 'a b' \"c $d\\\"\" e\\ f g", ["prefs", "get", "a b", "c $d\"", "e f"], "g"),
        ("true; x=1 && prefs get ", ["prefs", "get"], ""), ("prefs set k ''x", ["prefs", "set", "k"], "x"),
        ("prefs '' ", ["prefs", ""], ""), ("prefs a\\", ["prefs"], "a"),
        ("a; prefs b", ["prefs"], "b"), ("a | prefs b", ["prefs"], "b"), ("a & prefs b", ["prefs"], "b"),
        ("a (prefs b", ["prefs"], "b"), ("a\nprefs b", ["prefs"], "b"),
    ]) func bashLinesAreDivided(line: String, words: [String], word: String) {
        let parsed = ShellLine(line, breaks: Self.breaks)
        #expect(parsed.words == words && parsed.word == word)
    }
}
