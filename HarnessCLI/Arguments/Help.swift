/// The text of `--help`, of the whole and of each command.
enum Help {
    static let version = "0.9.0"

    static func text(_ spec: CommandSpec?) -> String {
        spec.map(text) ?? whole
    }

    private static var whole: String {
        """
        prefs: looks at preferences, edits, watches, moves and mends them.

        The set of five preferences that it comes with (an Int, a String, an Array, a Dictionary and a Date):
        \(commands(CommandSpec.setCommands))
        Any domain of UserDefaults, and any property-list file:
        \(commands(CommandSpec.domainCommands))
        Besides:
        \(commands(CommandSpec.otherCommands))
        KEY is a name or a short name: "Integer Value" or int, "String Value" or string, "Array Value" or array,
        "Dictionary Value" or dictionary, "Date Value" or date. DOMAIN is a name, or the path of a property list: a word
        with a / in it, or with the ending .plist.

        \(options(OptionSpec.all))
        `prefs help COMMAND` tells more of a command, with an example.
        Tables cut long values; `get`, `read` and --json show them in full. Control and format characters are shown as escapes
        such as \\u{202e}; in a pipe or a file, `get`, `read` and `export` write values that read back exactly.
        With --json, `read`, `export` and `import --dry-run` show values as an export has them, losing nothing; the others show
        dates as ISO 8601 and data as base64.
        Exit codes: 0 done, 1 refused or failed, 64 wrong usage; 128 and the number of a signal that ended it.

        """
    }

    private static func text(_ spec: CommandSpec) -> String {
        """
        prefs \(spec.synopsis): \(spec.summary)
        \(spec.details.isEmpty ? "" : "\n\(spec.details)\n")
        \(options(spec.options + [.json]))
        Example: \(spec.example)

        """
    }

    private static func commands(_ specs: [CommandSpec]) -> String {
        var table = Table()
        for spec in specs {
            table.add("  prefs \(spec.name == CommandSpec.show.name ? "[show]" : spec.synopsis)", spec.summary)
        }
        return table.text()
    }

    private static func options(_ specs: [OptionSpec]) -> String {
        var table = Table()
        for spec in specs { table.add("  " + spec.name + (spec.valueName.map { " \($0)" } ?? ""), spec.summary) }
        return table.text()
    }
}
