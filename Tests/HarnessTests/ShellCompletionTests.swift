import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// The completion scripts in the shells themselves, in a terminal, with Tab.
///
/// A shell that is not installed is skipped; `Scripts/check.sh` installs the shells if it may.
@Suite(.waits) struct ShellCompletionTests {
    private static let shells = Shell.allCases.map(\.rawValue).filter { name in
        Hazard.canRun("completions: \(name)", if: Child.installed(name) != nil, else: "it is not installed")
    }.compactMap(Shell.init)

    /// A home with the program in its PATH.
    private static func home() throws -> HarnessHome {
        let home = try HarnessHome()
        try FileManager.default.createDirectory(at: home.folder.file("bin"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            at: home.folder.file("bin/prefs"), withDestinationURL: Child.executable("prefs"))
        return home
    }

    /// Runs a script and then types lines into the shell. Each line makes the shell write its last word to a file.
    private struct Session {
        let terminal: PseudoTerminal
        let home: HarnessHome
        private var count = 0

        /// - Parameter command: the command that is completed. `show` completes as it does.
        init(_ shell: Shell, _ home: HarnessHome, script: String, command: String = "prefs") throws {
            self.home = home
            let words: [String]
            let rest: String
            switch shell {
            case .bash:
                words = ["--norc", "--noprofile", "-i"]
                rest = """
                    show() { if [[ " $* " == *" complete-words "* ]]; then \(command) "$@"; else printf '%s\\0' "${@: -1}" > word; fi; }
                    complete -F $(complete -p \(command) | sed 's/.*-F \\([^ ]*\\) .*/\\1/') show
                    PROMPT_COMMAND='READY=$((READY + 1))'; PS1='READY=$READY '
                    """
            case .zsh:
                words = ["-f", "-i"]
                rest = """
                    show() { if [[ " $* " == *" complete-words "* ]]; then \(command) "$@"; else printf '%s\\0' "${@[-1]}" > word; fi; }
                    compdef $_comps[\(command)] show
                    precmd() { PS1="READY=$((++READY)) "; }
                    """
            case .fish:
                words = ["--no-config", "--private", "-i"]
                rest = """
                    function show
                        if contains complete-words $argv; \(command) $argv; else; printf '%s\\0' $argv[-1] > word; end
                    end
                    complete -c show -w \(command)
                    set -g READY 0
                    function ready --on-event fish_prompt; set -g READY (math $READY + 1); echo "READY=$READY "; end
                    function fish_prompt; echo -n '$ '; end
                    """
            }
            let before = shell == .zsh ? "autoload -Uz compinit; compinit -u -D\n" : ""
            try home.write(Data((before + script + rest + "\n").utf8), to: "init")
            terminal = try PseudoTerminal(
                URL(filePath: #require(Child.installed(shell.rawValue))), words,
                environment: [
                    "HOME": home.folder.path, "PATH": home.folder.path + "/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                    "INPUTRC": "/dev/null",
                ], columns: 200, rows: 50)
            try terminal.type(
                "cd ~; READY=0; source init\n".replacing("READY=0", with: shell == .fish ? "set READY 0" : "READY=0"))
            try terminal.wait(forText: "READY=1 ")
        }

        /// Types a line with Tabs, and returns the last word that the shell passes to `show`.
        mutating func word(_ line: String) throws -> String? {
            count += 1
            try? FileManager.default.removeItem(at: home.folder.file("word"))
            try terminal.type(line + "\n")
            // The shell is ready for keys when it has printed its prompt.
            try terminal.wait(forText: "READY=\(count + 1) ")
            guard let bytes = FileManager.default.contents(atPath: home.path("word")) else { return nil }
            return String(decoding: bytes.dropLast(), as: UTF8.self)
        }
    }

    private static func script(_ shell: Shell) throws -> String {
        let printed = try HarnessHome().prefs("completions", shell.rawValue)
        #expect(printed.code == 0 && printed.errors == "")
        return printed.output
    }

    @Test(arguments: shells) func tabCompletesWords(shell: Shell) throws {
        let home = try Self.home()
        for name in ["sp ace.plist", "other.plist"] { try home.write(["Root": ["k": 1]], to: name) }
        var session = try Session(shell, home, script: Self.script(shell))
        let rows = [
            ("show unse\t", "unset"), ("show get dic\t", "dictionary"), ("show get Int\t", "Integer Value"),
            ("show get 'Int\t", "Integer Value"), ("show --root R get int --de\t", "--default"),
            ("show export --format x\t", "xml"), ("show export --format=x\t", "--format=xml"),
            ("show help wa\t", "watch"), ("show completions f\t", "fish"), ("show stress --k\t", "--kill"),
            ("show diff sp\t", "sp ace.plist"), ("show get -f sp\t", "sp ace.plist"),
            ("show set --from=oth\t", "--from=other.plist"), ("show get other.plist R\t", "Root"),
            ("show get -f other.plist Root.\t", "Root.k"), ("show get sp\\ ace.plist Ro\t", "Root"),
        ]
        for (line, expected) in rows { #expect(try session.word(line) == expected, "\(line)") }
    }

    /// Names that a shell would change or run arrive unchanged, and nothing runs.
    @Test(arguments: shells) func hostileNamesArriveUnchanged(shell: Shell) throws {
        let home = try Self.home()
        let names = (HostileText.shown + HostileText.commands)
            .filter { name in
                // No argument contains NUL. fish divides a completion from its note by a tab, and expands a tilde.
                !name.isEmpty && !name.utf8.contains(0)
                    && !(shell == .fish && (name.contains("\t") || name.hasPrefix("~")))
            }
        for (index, name) in names.enumerated() { try home.write([name: ["k": 1]], to: "\(index).plist") }
        var session = try Session(shell, home, script: Self.script(shell))
        // In the usual form, the shells share the names.
        let turn = Shell.allCases.firstIndex(of: shell) ?? 0
        for (index, name) in names.enumerated() where Hazard.isLong || index % Shell.allCases.count == turn {
            let quotes = ["", "'", "\""].filter { ShellLine("x \($0)", breaks: " '\"").insertion(name) != nil }
            let tried = Hazard.isLong ? quotes : quotes.isEmpty ? [] : [quotes[index % quotes.count]]
            for quote in shell == .bash ? tried : [""] {
                #expect(
                    try session.word("show -f \(index).plist --root \(quote)\t") == name,
                    "\(quote) \(name.debugDescription)")
            }
        }
        #expect(try !home.folder.names().contains("pwned"))
    }

    /// `myapp` has other arguments, too; the tool is its command `prefs`.
    @Test(arguments: shells) func aNameOfTwoWordsCompletesAfterTheSecond(shell: Shell) throws {
        let home = try Self.home()
        let app = try home.write("#!/bin/sh\n[ \"$1\" = prefs ] || exit 9\nshift\nexec prefs \"$@\"\n", to: "bin/myapp")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: app.path)
        let former =
            shell == .bash
            ? "_former() { if [[ own == \"$2\"* ]]; then COMPREPLY=(own); fi; }\ncomplete -F _former myapp\n" : ""
        let script = former + CompletionScript(of: AppPrefs.program).text(for: shell)
        var session = try Session(shell, home, script: script, command: "myapp")
        #expect(try session.word("show pre\t") == "prefs")
        #expect(try session.word("show prefs unse\t") == "unset")
        #expect(try session.word("show prefs get Int\t") == "Integer Value")
        #expect(try session.word("show prefs export --format=x\t") == "--format=xml")
        if shell == .bash { #expect(try session.word("show other o\t") == "own") }
    }

    @Test(.needs("completions: shellcheck", Child.installed("shellcheck") != nil, else: "it is not installed"))
    func theScriptForBashIsClean() throws {
        let home = try HarnessHome()
        let scripts = [try Self.script(.bash), CompletionScript(of: AppPrefs.program).text(for: .bash)]
        for script in scripts {
            let file = try home.write(script, to: "completions.bash")
            let program = URL(filePath: try #require(Child.installed("shellcheck")))
            #expect(Printed(try Child(program, ["--shell=bash", file.path], environment: [:]).wait()) == Printed())
        }
    }
}
