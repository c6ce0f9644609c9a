import PersistentPreferences

extension CommandSpec {
    /// What runs where no command is given.
    static let show = CommandSpec(
        name: "show", operands: "", summary: "show the set as a table",
        details: "The harness's own set is given its default values at the first look.", example: "prefs",
        options: OptionSpec.target, parse: { _, _ throws(UsageError) in .show })

    /// All there are, in the order of the help.
    static let all = setCommands + domainCommands + otherCommands

    /// The five values of the test set.
    static let setCommands: [CommandSpec] = [
        show,
        CommandSpec(
            name: "get", operands: "KEY", summary: "print one value; exit 1 where it is not set",
            example: "prefs get int", options: OptionSpec.target,
            parse: { words, _ throws(UsageError) in .get(key: words[0]) }),
        CommandSpec(
            name: "set", operands: "KEY VALUE", summary: "store one value",
            details: """
                VALUE is typed by its key: 42; any text; a,b,c or ["a","b"]; k=v,k2=v2 or {"k":"v"}; 2026-11-20 or
                2026-11-20T08:30:00Z.
                """,
            example: "prefs set array One,Two", options: OptionSpec.target,
            parse: { words, _ throws(UsageError) in .set(key: words[0], value: words[1]) }),
        CommandSpec(
            name: "unset", operands: "KEY", summary: "remove one value", example: "prefs unset date",
            options: OptionSpec.target, parse: { words, _ throws(UsageError) in .unset(key: words[0]) }),
        CommandSpec(
            name: "reset", operands: "", summary: "store the default values", example: "prefs reset",
            options: OptionSpec.target, parse: { _, _ throws(UsageError) in .reset }),
        CommandSpec(
            name: "clear", operands: "", summary: "remove all values", example: "prefs clear",
            options: OptionSpec.target, parse: { _, _ throws(UsageError) in .clear }),
        CommandSpec(
            name: "delete-all", operands: "", summary: "remove the root itself", example: "prefs delete-all --root Old",
            options: OptionSpec.target, parse: { _, _ throws(UsageError) in .deleteAll }),
        CommandSpec(
            name: "edit", operands: "", summary: "edit the values in a form that fills the terminal",
            details:
                "Arrow keys and Tab move, Enter edits, Escape gives up, r resets a value, ? tells the rest, q leaves.",
            example: "prefs edit --file settings.plist", options: OptionSpec.target,
            parse: { _, _ throws(UsageError) in .edit }),
        CommandSpec(
            name: "watch", operands: "[KEY …]", summary: "print changes as they come, until interrupted",
            details: "Those of some keys, or of all. With --json an object a line.",
            example: "prefs watch int string", options: OptionSpec.target,
            parse: { words, _ throws(UsageError) in .watch(keys: words) }),
    ]

    /// Any property-list domain.
    static let domainCommands: [CommandSpec] = [
        CommandSpec(
            name: "read", operands: "DOMAIN [ROOT [KEY]]", summary: "print a domain, a root of it, or a value of that",
            example: "prefs read persistentpreferences.harness PrefsTestSet", options: [],
            parse: { words, _ throws(UsageError) in
                .read(Target(domain: words[0]), root: words[safe: 1], key: words[safe: 2])
            }),
        CommandSpec(
            name: "read-type", operands: "DOMAIN ROOT [KEY]", summary: "print the type of an entry or a value",
            example: "prefs read-type settings.plist Editor fontSize", options: [],
            parse: { words, _ throws(UsageError) in
                .readType(Target(domain: words[0]), root: words[1], key: words[safe: 2])
            }),
        CommandSpec(
            name: "write", operands: "DOMAIN ROOT [KEY] [-TYPE] VALUE …",
            summary: "store a value, or an entry of the domain",
            details: ParsedValue.help, example: "prefs write settings.plist Editor fontSize -float 12.5", options: [],
            parse: { words, _ throws(UsageError) in try ParsedValue.command(words) }),
        CommandSpec(
            name: "delete", operands: "DOMAIN [ROOT [KEY]]", summary: "remove a value, a root, or all of a domain",
            example: "prefs delete settings.plist Editor fontSize", options: [],
            parse: { words, _ throws(UsageError) in
                .delete(Target(domain: words[0]), root: words[safe: 1], key: words[safe: 2])
            }),
        CommandSpec(
            name: "export", operands: "[PATH]", summary: "write values to a file, or to standard output",
            example: "prefs export --format xml set.plist", options: OptionSpec.target + [.domain, .format],
            parse: { words, options throws(UsageError) in
                .export(try format(options[.format]), path: words.first.flatMap(path))
            }),
        CommandSpec(
            name: "import", operands: "[PATH]",
            summary: "store the values of a file, or of standard input; all or nothing",
            details: "Of a whole domain, roots that are on both sides are merged key by key.",
            example: "prefs import --dry-run set.plist",
            options: OptionSpec.target + [.domain, .merge, .replace, .dryRun],
            parse: { words, options throws(UsageError) in
                if options.has(.merge), options.has(.replace) {
                    throw UsageError("--merge and --replace are two ways; give one")
                }
                return .import(
                    path: words.first.flatMap(path), merge: !options.has(.replace), dryRun: options.has(.dryRun))
            }),
    ]

    static let otherCommands: [CommandSpec] = [
        CommandSpec(
            name: "vet", operands: "FILE", summary: "say what is wrong with a property-list file, and where",
            example: "prefs vet settings.plist", options: [],
            parse: { words, _ throws(UsageError) in .vet(path: words[0]) }),
        CommandSpec(
            name: "doctor", operands: "[DOMAIN]", summary: "explain the state of a domain's file, and how to mend it",
            details: """
                Which file it is, its format and permissions, who holds the lock, what was quarantined, the last good copy.
                Changes nothing without --mend.
                """,
            example: "prefs doctor settings.plist", options: [.suite, .file, .mend],
            parse: { words, options throws(UsageError) in
                if !words.isEmpty, options[.suite] != nil || options[.file] != nil {
                    throw UsageError("DOMAIN is a place of its own; give no --suite or --file")
                }
                return .doctor(words.first.map(Target.init(domain:)), mends: options.has(.mend))
            }),
        CommandSpec(
            name: "stress", operands: "", summary: "have threads and processes write at once, and count what was lost",
            details: "In a folder of its own, which is removed. Exit 1 where a write was lost.",
            example: "prefs stress --threads 8 --processes 4 --kill",
            options: [.threads, .processes, .writes, .kill],
            parse: { _, options throws(UsageError) in .stress(try StressPlan(options)) }),
        CommandSpec(
            name: "completions", operands: "[bash]", summary: "print what makes bash complete these words",
            example: "source <(prefs completions)", options: [],
            parse: { words, _ throws(UsageError) in
                if let shell = words.first, shell != "bash" {
                    throw UsageError("completions are for bash, and not for \(ShownText.key(shell))")
                }
                return .completions
            }),
        CommandSpec(
            name: "help", operands: "[COMMAND]", summary: "this text, or that of a command",
            example: "prefs help import",
            options: [], parse: { _, _ throws(UsageError) in .help(nil) }),
    ]

    /// nil for the standard stream.
    private static func path(_ word: String) -> String? {
        word == "-" ? nil : word
    }

    private static func format(_ name: String?) throws(UsageError) -> ExportFormat {
        guard let name else { return .json }
        guard let format = ExportFormat(rawValue: name) else {
            throw UsageError("unknown format `\(ShownText.key(name))`; formats are json, xml, binary")
        }
        return format
    }
}

extension Array {
    /// nil where there is none.
    subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
