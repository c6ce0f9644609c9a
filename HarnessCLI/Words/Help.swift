/// The text of `--help`, of the whole and of each command.
enum Help {
    static let version = "0.9.0"

    static func text(_ form: CommandForm?) -> String {
        form.map(text) ?? whole
    }

    private static var whole: String {
        """
        prefs: looks at preferences, edits, watches, moves and mends them.

        The set of five preferences that it comes with (an Int, a String, an Array, a Dictionary and a Date):
        \(commands(CommandForm.setForms))
        Any domain of UserDefaults, and any property-list file:
        \(commands(CommandForm.domainForms))
        Besides:
        \(commands(CommandForm.otherForms))
        KEY is a name or a short name: "Integer Value" or int, "String Value" or string, "Array Value" or array,
        "Dictionary Value" or dictionary, "Date Value" or date. DOMAIN is a name, or the path of a property list: a word
        with a / in it, or with the ending .plist.

        \(options(OptionForm.all))
        `prefs help COMMAND` tells more of a command, with an example.
        Tables cut long values; `get`, `read` and --json show them in full. Control and format characters are shown as escapes
        such as \\u{202e}; in a pipe or a file, `get`, `read` and `export` write values that read back exactly.
        With --json, `read`, `export` and `import --dry-run` show values as an export has them, losing nothing; the others show
        dates as ISO 8601 and data as base64.
        Exit codes: 0 done, 1 refused or failed, 64 wrong usage; 128 and the number of a signal that ended it.

        """
    }

    private static func text(_ form: CommandForm) -> String {
        """
        prefs \(form.synopsis): \(form.summary)
        \(form.details.isEmpty ? "" : "\n\(form.details)\n")
        \(options(form.options + [.json]))
        Example: \(form.example)

        """
    }

    private static func commands(_ forms: [CommandForm]) -> String {
        var table = Table()
        for form in forms {
            table.add("  prefs \(form.name == CommandForm.show.name ? "[show]" : form.synopsis)", form.summary)
        }
        return table.text()
    }

    private static func options(_ forms: [OptionForm]) -> String {
        var table = Table()
        for form in forms { table.add("  " + form.name + (form.value.map { " \($0)" } ?? ""), form.summary) }
        return table.text()
    }
}
