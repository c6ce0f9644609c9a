import Foundation
import TestSupport
import Testing

/// `prefs edit` with a script as editor, in its own home.
struct EditRun {
    let home: HarnessHome

    /// Each run of the editor keeps the text that it gets, and then runs the script. `$1` is the path of the text, `$n`
    /// the number of the run.
    init(_ home: HarnessHome, _ script: String) throws {
        self.home = home
        let editor = """
            #!/bin/sh
            n=1
            while [ -e "$HOME/opened-$n" ]; do n=$((n + 1)); done
            cp "$1" "$HOME/opened-$n"
            \(script)

            """
        // A shell reads it. A program that was just written cannot be run while another test forks.
        try Data(editor.utf8).write(to: home.folder.file("my editor"))
        try FileManager.default.createDirectory(at: home.folder.file("tmp"), withIntermediateDirectories: true)
    }

    var environment: [String: String] {
        [
            "HOME": home.folder.path, "TMPDIR": home.path("tmp"), "EDITOR": "/bin/sh '\(home.path("my editor"))'",
            "PATH": "/usr/bin:/bin",
        ]
    }

    /// Runs `prefs edit` as a process.
    func callAsFunction(_ arguments: String..., variables: [String: String] = [:]) throws -> Printed {
        try home.process(["edit"] + arguments, environment.merging(variables) { $1 })
    }

    /// Starts `prefs edit` on a terminal.
    func onTerminal(_ arguments: String..., variables: [String: String] = [:]) throws -> PseudoTerminal {
        try home.terminal(["edit"] + arguments, environment.merging(variables) { $1 })
    }

    /// The text that a run of the editor got.
    func opened(_ number: Int) throws -> String { try home.text("opened-\(number)") }

    /// How often the editor ran.
    var count: Int { get throws { try home.folder.names().count { $0.hasPrefix("opened-") } } }

    /// The folders of texts that were not removed.
    var kept: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: home.path("tmp")) } }

    /// The only text that was kept, and its path.
    func keptText() throws -> (text: String, path: String) {
        let folders = try kept
        #expect(folders.count == 1)
        let name = "tmp/\(folders.first ?? "")/settings.json"
        return (try home.text(name), home.path(name))
    }
}
