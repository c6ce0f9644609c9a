import PersistentPreferences

extension CommandForm {
    /// What runs where no command is given.
    static let show = CommandForm(
        name: "show", operands: "", summary: "show the set as a table",
        details: "The harness's own set is given its default values at the first look.", example: "prefs",
        options: OptionForm.place, command: { _, _ throws(UsageError) in .show })

    /// All there are, in the order of the help.
    static let all = setForms + domainForms + otherForms

    /// The five values of the test set.
    static let setForms: [CommandForm] = [
        show,
        CommandForm(
            name: "get", operands: "KEY", summary: "print one value; exit 1 where it is not set",
            example: "prefs get int", options: OptionForm.place,
            command: { words, _ throws(UsageError) in .get(key: words[0]) }),
        CommandForm(
            name: "set", operands: "KEY VALUE", summary: "store one value",
            details: """
                VALUE is typed by its key: 42; any text; a,b,c or ["a","b"]; k=v,k2=v2 or {"k":"v"}; 2026-11-20 or
                2026-11-20T08:30:00Z.
                """,
            example: "prefs set array One,Two", options: OptionForm.place,
            command: { words, _ throws(UsageError) in .set(key: words[0], value: words[1]) }),
        CommandForm(
            name: "unset", operands: "KEY", summary: "remove one value", example: "prefs unset date",
            options: OptionForm.place, command: { words, _ throws(UsageError) in .unset(key: words[0]) }),
        CommandForm(
            name: "reset", operands: "", summary: "store the default values", example: "prefs reset",
            options: OptionForm.place, command: { _, _ throws(UsageError) in .reset }),
        CommandForm(
            name: "clear", operands: "", summary: "remove all values", example: "prefs clear",
            options: OptionForm.place, command: { _, _ throws(UsageError) in .clear }),
        CommandForm(
            name: "delete-all", operands: "", summary: "remove the root itself", example: "prefs delete-all --root Old",
            options: OptionForm.place, command: { _, _ throws(UsageError) in .deleteAll }),
        CommandForm(
            name: "edit", operands: "", summary: "edit the values in a form that fills the terminal",
            details:
                "Arrow keys and Tab move, Enter edits, Escape gives up, r resets a value, ? tells the rest, q leaves.",
            example: "prefs edit --file settings.plist", options: OptionForm.place,
            command: { _, _ throws(UsageError) in .edit }),
        CommandForm(
            name: "watch", operands: "[KEY …]", summary: "print changes as they come, until interrupted",
            details: "Those of some keys, or of all. With --json an object a line.",
            example: "prefs watch int string", options: OptionForm.place,
            command: { words, _ throws(UsageError) in .watch(keys: words) }),
    ]

    /// Any property-list domain.
    static let domainForms: [CommandForm] = [
        CommandForm(
            name: "read", operands: "DOMAIN [ROOT [KEY]]", summary: "print a domain, a root of it, or a value of that",
            example: "prefs read persistentpreferences.harness PrefsTestSet", options: [],
            command: { words, _ throws(UsageError) in
                .read(Place(domain: words[0]), root: words[safe: 1], key: words[safe: 2])
            }),
        CommandForm(
            name: "read-type", operands: "DOMAIN ROOT [KEY]", summary: "print the type of an entry or a value",
            example: "prefs read-type settings.plist Editor fontSize", options: [],
            command: { words, _ throws(UsageError) in
                .readType(Place(domain: words[0]), root: words[1], key: words[safe: 2])
            }),
        CommandForm(
            name: "write", operands: "DOMAIN ROOT [KEY] [-TYPE] VALUE …",
            summary: "store a value, or an entry of the domain",
            details: WrittenValue.help, example: "prefs write settings.plist Editor fontSize -float 12.5", options: [],
            command: { words, _ throws(UsageError) in try WrittenValue.command(words) }),
        CommandForm(
            name: "delete", operands: "DOMAIN [ROOT [KEY]]", summary: "remove a value, a root, or all of a domain",
            example: "prefs delete settings.plist Editor fontSize", options: [],
            command: { words, _ throws(UsageError) in
                .delete(Place(domain: words[0]), root: words[safe: 1], key: words[safe: 2])
            }),
        CommandForm(
            name: "export", operands: "[PATH]", summary: "write values to a file, or to standard output",
            example: "prefs export --format xml set.plist", options: OptionForm.place + [.domain, .format],
            command: { words, options throws(UsageError) in
                .export(try format(options[.format]), path: words.first.flatMap(path))
            }),
        CommandForm(
            name: "import", operands: "[PATH]",
            summary: "store the values of a file, or of standard input; all or nothing",
            details: "Of a whole domain, roots that are on both sides are merged key by key.",
            example: "prefs import --dry-run set.plist",
            options: OptionForm.place + [.domain, .merge, .replace, .dryRun],
            command: { words, options throws(UsageError) in
                if options.has(.merge), options.has(.replace) {
                    throw UsageError("--merge and --replace are two ways; give one")
                }
                return .import(
                    path: words.first.flatMap(path), merge: !options.has(.replace), dryRun: options.has(.dryRun))
            }),
    ]

    static let otherForms: [CommandForm] = [
        CommandForm(
            name: "vet", operands: "FILE", summary: "say what is wrong with a property-list file, and where",
            example: "prefs vet settings.plist", options: [],
            command: { words, _ throws(UsageError) in .vet(path: words[0]) }),
        CommandForm(
            name: "doctor", operands: "[DOMAIN]", summary: "explain the state of a domain's file, and how to mend it",
            details: """
                Which file it is, its format and permissions, who holds the lock, what was quarantined, the last good copy.
                Changes nothing without --mend.
                """,
            example: "prefs doctor settings.plist", options: [.suite, .file, .mend],
            command: { words, options throws(UsageError) in
                if !words.isEmpty, options[.suite] != nil || options[.file] != nil {
                    throw UsageError("DOMAIN is a place of its own; give no --suite or --file")
                }
                return .doctor(words.first.map(Place.init(domain:)), mends: options.has(.mend))
            }),
        CommandForm(
            name: "stress", operands: "", summary: "have threads and processes write at once, and count what was lost",
            details: "In a folder of its own, which is removed. Exit 1 where a write was lost.",
            example: "prefs stress --threads 8 --processes 4 --kill",
            options: [.threads, .processes, .writes, .kill],
            command: { _, options throws(UsageError) in .stress(try StressPlan(options)) }),
        CommandForm(
            name: "completions", operands: "[bash]", summary: "print what makes bash complete these words",
            example: "source <(prefs completions)", options: [],
            command: { words, _ throws(UsageError) in
                if let shell = words.first, shell != "bash" {
                    throw UsageError("completions are for bash, and not for \(ShownText.key(shell))")
                }
                return .completions
            }),
        CommandForm(
            name: "help", operands: "[COMMAND]", summary: "this text, or that of a command",
            example: "prefs help import",
            options: [], command: { _, _ throws(UsageError) in .help(nil) }),
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
