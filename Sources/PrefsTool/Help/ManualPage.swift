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
            \(escaped("KEY is a name or a short name of the program's settings, and may lead into a value. WHERE is the name of a UserDefaults domain, or the path of a file: a word that contains / or ends with .plist or .json. A file whose name ends with .json is JSON."))
            .SH COMMANDS
            \(commands.joined(separator: "\n"))
            .SH OPTIONS
            \(options.joined(separator: "\n"))
            .SH OUTPUT
            \(escaped("On a terminal, tables are truncated to its width, and control and format characters are shown as escapes such as \\u{202e}. A pipe or a file gets everything. `export`, `show --json`, `find --json`, `diff --json` and a dry run with --json print values in the lossless format of an export; `get` and `watch` print dates as ISO 8601 and data as base64."))
            .SH EXIT STATUS
            \(escaped(Help.exitCodes))
            .SH EXAMPLES
            .nf
            \(examples.joined(separator: "\n"))
            .fi

            """
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
