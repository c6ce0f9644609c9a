import PrefsJSON

/// The manual page, in the macros of man(7), made of the list of commands.
struct ManualPage {
    private let program: Program

    init(of program: Program) {
        self.program = program
    }

    var text: String {
        let name = program.name
        let title = name.map { $0 == " " ? "-" : $0 }
        let commands = program.commands.map { spec in
            let options = spec.options.filter { program.options.map(\.name).contains($0.name) }.map(\.name)
            var lines = [".TP", ".B \(roff(spec.synopsis))", escaped(Help.sentence(spec.summary))]
            if !spec.details.isEmpty { lines.append(details(spec.details)) }
            if !options.isEmpty { lines.append(escaped("Options: \(options.joined(separator: ", ")).")) }
            return lines.joined(separator: "\n")
        }
        let options = program.options.map { option in
            ".TP\n.B \(roff(option.synopsis))\n\(escaped(Help.sentence(option.summary)))"
        }
        let examples = program.commands.dropFirst().map {
            roff("\(name) \(Help(of: program).example(of: $0))")
        }
        return """
            .TH "\(String(title).uppercased())" 1 "\(Help.date)" "\(String(title)) \(Help.version)"
            .SH NAME
            \(escaped(String(title))) \\- show, edit and watch preferences
            .SH SYNOPSIS
            .B \(escaped(name))
            .RI [ COMMAND ]
            .RI [ OPTION " ...]"
            .SH DESCRIPTION
            \(escaped("Shows, edits, watches, exports, imports and mends preferences. Without a command, shows them as a table."))
            .PP
            \(escaped("KEY is a name or a short name of the program's settings, and may lead into a value. WHERE is a file, the name of a UserDefaults domain, or - for standard input. A word that is an existing file is that file, also as the first operand. The content of a file tells its format."))
            .SH COMMANDS
            \(commands.joined(separator: "\n"))
            .SH OPTIONS
            \(options.joined(separator: "\n"))
            .SH OUTPUT
            \(escaped("On a terminal, tables are truncated to its width, and control and format characters are shown as escapes such as \\u{202e}. A pipe or a file gets everything. `export`, `show --json`, `get --json`, `find --json`, `watch --json`, `diff --json` and a dry run with --json print values in the lossless format of an export. `get` without --json prints dates as ISO 8601 and data as base64."))
            .SH EXIT STATUS
            \(escaped(Help.exitCodes))
            .SH ENVIRONMENT
            \(rows(environment))
            .SH FILES
            \(rows(files))
            .SH EXAMPLES
            .nf
            \(examples.joined(separator: "\n"))
            .fi
            .SH SEE ALSO
            .BR defaults (1),
            .BR diff (1),
            .BR jq (1),
            .BR plutil (1)

            """
    }

    private let environment = [
        ("HOME", "The home folder. UserDefaults domains are in ~/.config on Linux."),
        ("XDG_CONFIG_HOME", "The folder of UserDefaults domains and of programs' files, if it is absolute."),
        ("XDG_STATE_HOME", "The folder of the records of undo, if it is absolute; the default is ~/.local/state."),
        ("VISUAL, EDITOR", "The editor of `edit`."),
        ("NO_COLOR", "No colours, if it is not empty."),
    ]

    private let files = [
        (".NAME.lock", "The lock of the writers of the file NAME, in its folder."),
        (".NAME.lastgood", "The last good copy of NAME, from which a damaged file is restored."),
        ("NAME.corrupt-TIME", "A quarantined file: the bytes of a damaged file that was replaced."),
        ("~/.local/state/PROGRAM/undo", "The last ten writes of the tool to each of fifty files."),
    ]

    private func rows(_ rows: [(name: String, text: String)]) -> String {
        rows.map { ".TP\n.B \(roff($0.name))\n\(escaped($0.text))" }.joined(separator: "\n")
    }

    /// The details of a command. Lines that begin with a space are a table.
    private func details(_ text: String) -> String {
        var isTable = false
        var lines: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix(" ") != isTable {
                isTable.toggle()
                lines.append(isTable ? ".nf" : ".fi")
            }
            lines.append(isTable ? roff(String(line)) : escaped(String(line)))
        }
        return (lines + (isTable ? [".fi"] : [])).joined(separator: "\n")
    }

    /// Text in lines that are not too wide. A new sentence begins a line.
    private func escaped(_ text: String) -> String {
        text.replacing(". ", with: ".\n").split(separator: "\n").flatMap { DisplayWidth.lines(String($0), width: 64) }
            .map(roff).joined(separator: "\n")
    }

    /// Escapes what roff interprets. A line of text must not begin with a dot or an apostrophe.
    private func roff(_ line: String) -> String {
        let safe = line.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("…", with: "...")
        return [".", "'"].contains(safe.first) ? "\\&" + safe : safe
    }
}
