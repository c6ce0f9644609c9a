import PersistentPreferences

extension CommandSpec {
    /// The command that runs if none is given.
    static let show = CommandSpec(
        name: "show", operands: "", summary: "show the set as a table",
        details: "Stores the default values first if nothing is stored and no --root, --suite or --file is given.",
        example: "prefs",
        options: OptionSpec.layeredTarget, parse: { _, _ throws(UsageError) in .show })

    /// All commands, in the order of the help.
    static let all = setCommands + domainCommands + otherCommands

    /// The commands on the built-in test set.
    static let setCommands: [CommandSpec] = [
        show,
        CommandSpec(
            name: "get", operands: "KEY", summary: "print one value; exit 1 if it is not set",
            example: "prefs get int", options: OptionSpec.layeredTarget,
            parse: { words, _ throws(UsageError) in .get(key: words[0]) }),
        CommandSpec(
            name: "set", operands: "KEY VALUE", summary: "store one value",
            details: """
                The key determines the type of VALUE: 42; any text; a,b,c or ["a","b"]; k=v,k2=v2 or {"k":"v"}; 2026-11-20 or
                2026-11-20T08:30:00Z.
                """,
            example: "prefs set array One,Two", options: OptionSpec.layeredTarget,
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
            name: "edit", operands: "", summary: "edit the values in a full-screen form",
            details:
                "Arrow keys and Tab move, Enter edits, Escape cancels, r resets a value, ? shows all keys, q quits.",
            example: "prefs edit --file settings.plist", options: OptionSpec.target,
            parse: { _, _ throws(UsageError) in .edit }),
        CommandSpec(
            name: "watch", operands: "[KEY …]", summary: "print changes as they happen, until interrupted",
            details: "Prints the changes of the given keys, or of all keys. With --json, prints one object per line.",
            example: "prefs watch int string", options: OptionSpec.layeredTarget,
            parse: { words, _ throws(UsageError) in .watch(keys: words) }),
    ]

    /// The commands on any property-list domain.
    static let domainCommands: [CommandSpec] = [
        CommandSpec(
            name: "read", operands: "DOMAIN [ROOT [KEY]]", summary: "print a domain, one of its roots, or one value",
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
            summary: "store a value in a root, or a top-level entry",
            details: ParsedValue.help, example: "prefs write settings.plist Editor fontSize -float 12.5", options: [],
            parse: { words, _ throws(UsageError) in try ParsedValue.command(words) }),
        CommandSpec(
            name: "delete", operands: "DOMAIN [ROOT [KEY]]",
            summary: "remove a value, a root, or all entries of a domain",
            example: "prefs delete settings.plist Editor fontSize", options: [],
            parse: { words, _ throws(UsageError) in
                .delete(Target(domain: words[0]), root: words[safe: 1], key: words[safe: 2])
            }),
        CommandSpec(
            name: "export", operands: "[PATH]", summary: "write values to a file, or to standard output",
            example: "prefs export --format xml set.plist", options: OptionSpec.layeredTarget + [.domain, .format],
            parse: { words, options throws(UsageError) in
                .export(try format(options[.format]), path: words.first.flatMap(path))
            }),
        CommandSpec(
            name: "import", operands: "[PATH]",
            summary: "store the values of a file, or of standard input; all or nothing",
            details: "If a whole domain is imported, roots that exist on both sides are merged key by key.",
            example: "prefs import --dry-run set.plist",
            options: OptionSpec.target + [.domain, .merge, .replace, .dryRun],
            parse: { words, options throws(UsageError) in
                if options.has(.merge), options.has(.replace) {
                    throw UsageError("--merge and --replace cannot be combined; give one of them")
                }
                return .import(
                    path: words.first.flatMap(path), merge: !options.has(.replace), dryRun: options.has(.dryRun))
            }),
    ]

    static let otherCommands: [CommandSpec] = [
        CommandSpec(
            name: "vet", operands: "FILE", summary: "report what is wrong with a property-list or JSON file",
            example: "prefs vet settings.plist", options: [],
            parse: { words, _ throws(UsageError) in .vet(path: words[0]) }),
        CommandSpec(
            name: "doctor", operands: "[DOMAIN]", summary: "explain the state of a domain's file, and how to mend it",
            details: """
                Shows the path, the format, the permissions, the holder of the lock, quarantined files and the last good copy.
                Changes nothing without --mend.
                """,
            example: "prefs doctor settings.plist", options: [.suite, .file, .mend],
            parse: { words, options throws(UsageError) in
                if !words.isEmpty, options[.suite] != nil || options[.file] != nil {
                    throw UsageError("DOMAIN cannot be combined with --suite or --file")
                }
                return .doctor(words.first.map(Target.init(domain:)), mends: options.has(.mend))
            }),
        CommandSpec(
            name: "stress", operands: "",
            summary: "write from many threads and processes at once, and count lost writes",
            details: "Works in a temporary folder. Exits with 1 if a write was lost.",
            example: "prefs stress --threads 8 --processes 4 --kill",
            options: [.threads, .processes, .writes, .kill],
            parse: { _, options throws(UsageError) in .stress(try StressPlan(options)) }),
        CommandSpec(
            name: "completions", operands: "[bash]", summary: "print the completion script for bash",
            example: "source <(prefs completions)", options: [],
            parse: { words, _ throws(UsageError) in
                if let shell = words.first, shell != "bash" {
                    throw UsageError("unknown shell `\(ShownText.key(shell))`; completions are available for bash")
                }
                return .completions
            }),
        CommandSpec(
            name: "help", operands: "[COMMAND]", summary: "show this help, or the help of a command",
            example: "prefs help import",
            options: [], parse: { _, _ throws(UsageError) in .help(nil) }),
    ]

    /// Returns nil for `-`, the standard stream.
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
    /// Returns nil if the index is out of bounds.
    subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
