/// The text of `--help`, for a program and for each command.
struct Help {
    static let version = "0.9.0"

    private let program: Program

    init(of program: Program) {
        self.program = program
    }

    func text(_ spec: CommandSpec?) -> String {
        spec.map(text) ?? whole
    }

    private var whole: String {
        """
        \(program.name): shows, edits, watches, exports, imports and mends preferences.

        Its preferences:
        \(commands(CommandSpec.ofClass))
        Any UserDefaults domain, property-list file and JSON file:
        \(commands(CommandSpec.onDomains))
        Other commands:
        \(commands(CommandSpec.others))
        KEY is a name or a short name: "Integer Value" or int, "String Value" or string, "Array Value" or array,
        "Dictionary Value" or dictionary, "Date Value" or date. DOMAIN is the name of a UserDefaults domain, or the path of a
        file: a word that contains / or ends with .plist or .json. A file whose name ends with .json is JSON.

        \(options(program.options))
        `\(program.name) help COMMAND` describes a command and shows an example.
        Tables truncate long values; `get`, `read` and --json show them in full. Control and format characters are shown as escapes
        such as \\u{202e}; in a pipe or a file, `get`, `read` and `export` write values that read back exactly.
        With --json, `read`, `export` and `import --dry-run` print values in the lossless format of an export; other commands
        print dates as ISO 8601 and data as base64.
        Exit codes: 0 success, 1 failure, 64 usage error, 128 plus the number of the signal that ended the program.

        """
    }

    private func text(_ spec: CommandSpec) -> String {
        """
        \(program.name) \(spec.synopsis): \(spec.summary)
        \(spec.details.isEmpty ? "" : "\n\(spec.details)\n")
        \(options(spec.options + [.json]))
        Example: \(program.name) \(spec.example)

        """
    }

    private func commands(_ specs: [CommandSpec]) -> String {
        var table = Table()
        for spec in specs {
            table.add(
                "  \(program.name) \(spec.name == CommandSpec.show.name ? "[show]" : spec.synopsis)", spec.summary)
        }
        return table.text()
    }

    private func options(_ specs: [OptionSpec]) -> String {
        var table = Table()
        for spec in specs { table.add("  " + spec.name + (spec.valueName.map { " \($0)" } ?? ""), spec.summary) }
        return table.text()
    }
}
