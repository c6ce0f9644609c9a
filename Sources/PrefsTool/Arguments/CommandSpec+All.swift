import PersistentPreferences

extension CommandSpec {
    /// The command that runs if none is given.
    static let show = CommandSpec(
        name: "show", operands: "", summary: "show the set as a table",
        details: "Values that are not stored are the defaults of the program.",
        example: "show",
        options: OptionSpec.layeredTarget, parse: { _, _ throws(UsageError) in .show })

    /// All commands of `prefs`, in the order of its help.
    static let all =
        ofClass.map { spec in [edit, watch].first { $0.name == spec.name } ?? spec } + transfer + onDomains + others + [
            stress
        ]

    /// The commands on the preferences of the program.
    static let ofClass: [CommandSpec] = [
        show,
        CommandSpec(
            name: "get", operands: "KEY", summary: "print the value that the program reads",
            details: "KEY may lead into a value: `window.size[0]`. The value is the default if nothing is stored.",
            example: "get KEY", options: OptionSpec.layeredTarget + [.stored, .defaultText],
            parse: { words, options throws(UsageError) in
                .get(key: words[0], stored: options.has(.stored), defaultText: options[.defaultText])
            }),
        CommandSpec(
            name: "set", operands: "KEY [VALUE …]", summary: "store values: KEY VALUE, or KEY=VALUE …",
            details: """
                The type of the property determines how VALUE is read: 42; any text; a,b,c or ["a","b"]; {"k":"v"}; 2026-11-20 or
                2026-11-20T08:30:00Z. `-` is standard input. Several values are stored together, or none.
                """,
            example: "set KEY VALUE", options: OptionSpec.layeredTarget + [.expected, .valueFile] + OptionSpec.writing,
            parse: { words, options throws(UsageError) in
                .set(
                    try Assignments.parse(words, file: options[.valueFile], input: options.input),
                    expected: options[.expected])
            }),
        CommandSpec(
            name: "unset", operands: "KEY …", summary: "remove values, so that their defaults apply",
            example: "unset KEY", options: OptionSpec.target + OptionSpec.writing,
            parse: { words, _ throws(UsageError) in .unset(keys: words) }),
        CommandSpec(
            name: "reset", operands: "", summary: "remove all values, so that the defaults apply", example: "reset",
            options: OptionSpec.target + OptionSpec.writing, parse: { _, _ throws(UsageError) in .reset }),
        CommandSpec(
            name: "increment", operands: "KEY [AMOUNT]", summary: "add to a number (1)", example: "increment KEY -- -5",
            options: OptionSpec.target + OptionSpec.writing,
            parse: { words, _ throws(UsageError) in .increment(key: words[0], amount: words[safe: 1] ?? "1") }),
        CommandSpec(
            name: "toggle", operands: "KEY", summary: "make true false, and false true", example: "toggle KEY",
            options: OptionSpec.target + OptionSpec.writing,
            parse: { words, _ throws(UsageError) in .toggle(key: words[0]) }),
        CommandSpec(
            name: "edit", operands: "", summary: "edit the values in a full-screen form",
            details: editDetails, example: "edit", options: OptionSpec.target,
            parse: { _, _ throws(UsageError) in .edit(nil) }),
        CommandSpec(
            name: "watch", operands: "[KEY …]", summary: "print changes as they happen, until interrupted",
            details: "Prints the changes of the given keys, or of all keys. With --json, prints one object per line.",
            example: "watch", options: OptionSpec.layeredTarget,
            parse: { words, _ throws(UsageError) in .watch(keys: words) }),
        CommandSpec(
            name: "schema", operands: "", summary: "print the JSON Schema of the preferences", example: "schema",
            options: [], parse: { _, _ throws(UsageError) in .schema }),
    ]

    private static let editDetails = """
        Arrow keys and Tab move, Enter edits, Escape cancels, r resets a value, u undoes, / searches, ? shows all keys, q quits.
        On a terminal smaller than 40 x 12, or with TERM=dumb, edits line by line.
        """

    /// `edit` of the program with the commands on domains.
    private static let edit = CommandSpec(
        name: "edit", operands: "[DOMAIN]", summary: "edit the values, or any domain, in a full-screen form",
        details: editDetails, example: "edit settings.plist", options: OptionSpec.target,
        parse: { words, options throws(UsageError) in
            try checkDomain(words, options)
            return .edit(words.first.map(Target.init(domain:)))
        })

    /// `watch` of the program with the commands on domains.
    private static let watch = CommandSpec(
        name: "watch", operands: "[KEY|DOMAIN …]", summary: "print changes as they happen, until interrupted",
        details: """
            Prints the changes of the given keys, or of all keys. A word that is not a key is a domain; places in it may follow,
            such as Editor.sizes[0]. With --json, prints one object per line.
            """,
        example: "watch settings.plist Editor.size", options: OptionSpec.layeredTarget,
        parse: { words, options throws(UsageError) in
            let isOfClass =
                words.isEmpty || (OptionSpec.layeredTarget + [.reveal]).contains(where: options.has)
            return isOfClass ? .watch(keys: words) : .watchDomain(words: words)
        })

    /// - Throws: `UsageError` if a domain and the place of the preferences are given.
    private static func checkDomain(_ words: [String], _ options: Options) throws(UsageError) {
        guard let option = OptionSpec.place.first(where: options.has), !words.isEmpty else { return }
        throw UsageError("DOMAIN cannot be combined with \(option.name)")
    }

    /// The commands on any property-list domain.
    static let onDomains: [CommandSpec] = [
        CommandSpec(
            name: "domains", operands: "", summary: "list the UserDefaults domains", example: "domains", options: [],
            parse: { _, _ throws(UsageError) in .domains }),
        CommandSpec(
            name: "find", operands: "WORD", summary: "search the keys and values of all UserDefaults domains",
            details: "Ignores case. Exits with 1 if nothing is found.", example: "find fontSize", options: [],
            parse: { words, _ throws(UsageError) in .find(words[0]) }),
        CommandSpec(
            name: "read", operands: "[DOMAIN [ROOT [KEY]]]", summary: "print a domain, one of its roots, or one value",
            details: """
                KEY may lead into a value: `window.size[0]`. Without DOMAIN, prints all UserDefaults domains. Dictionaries are printed
                as JSON that `prefs import` accepts.
                """,
            example: "read persistentpreferences.harness PrefsTestSet", options: [],
            parse: { words, _ throws(UsageError) in
                .read(words.first.map(Target.init(domain:)), DomainPlace(root: words[safe: 1], key: words[safe: 2]))
            }),
        CommandSpec(
            name: "read-type", operands: "DOMAIN ROOT [KEY]", summary: "print the type of an entry or a value",
            example: "read-type settings.plist Editor fontSize", options: [],
            parse: { words, _ throws(UsageError) in
                .readType(Target(domain: words[0]), DomainPlace(root: words[1], key: words[safe: 2]))
            }),
        CommandSpec(
            name: "write", operands: "DOMAIN ROOT [KEY] [-TYPE] VALUE …",
            summary: "store a value in a root, or a top-level entry",
            details: ParsedValue.help, example: "write settings.plist Editor fontSize -float 12.5",
            options: [.expected, .valueFile] + OptionSpec.writing, minimumOperands: 2,
            parse: { words, options throws(UsageError) in
                try ParsedValue.command(
                    words, file: options[.valueFile], expected: options[.expected], input: options.input)
            }),
        CommandSpec(
            name: "rename", operands: "DOMAIN ROOT [KEY] NEW", summary: "rename a key of a root, or a top-level entry",
            example: "rename settings.plist Editor fontSize size", options: OptionSpec.writing,
            parse: { words, _ throws(UsageError) in
                let place = DomainPlace(root: words[1], key: words.count == 4 ? words[2] : nil)
                return .rename(Target(domain: words[0]), place, to: words[words.count - 1])
            }),
        CommandSpec(
            name: "delete", operands: "DOMAIN [ROOT [KEY]]",
            summary: "remove a value, a root, or all entries of a domain",
            example: "delete settings.plist Editor fontSize", options: OptionSpec.writing,
            parse: { words, _ throws(UsageError) in
                .delete(Target(domain: words[0]), DomainPlace(root: words[safe: 1], key: words[safe: 2]))
            }),
    ]

    /// The commands on the preferences of the program, and on any domain.
    static let transfer: [CommandSpec] = [
        CommandSpec(
            name: "export", operands: "", summary: "print values, or write them to a file",
            details: "The extension of PATH selects the format: json, xml, or plist for a binary property list.",
            example: "export -o set.json", options: OptionSpec.layeredTarget + [.domain, .format, .output, .force],
            parse: { _, options throws(UsageError) in
                let word = options[.output]
                return .export(
                    try format(options[.format], path: word), domain: options[.domain].map(Target.init(domain:)),
                    path: word.flatMap(path))
            }),
        CommandSpec(
            name: "import", operands: "[PATH]",
            summary: "store the values of a file, or of standard input; all or nothing",
            details: "If a whole domain is imported, roots that exist on both sides are merged key by key.",
            example: "import --dry-run set.plist",
            options: OptionSpec.target + [.domain, .merge, .replace] + OptionSpec.writing,
            parse: { words, options throws(UsageError) in
                if options.has(.merge), options.has(.replace) {
                    throw UsageError("--merge and --replace cannot be combined; give one of them")
                }
                return .import(
                    domain: options[.domain].map(Target.init(domain:)), path: words.first.flatMap(path),
                    merge: !options.has(.replace))
            }),
    ]

    static let others: [CommandSpec] = [
        CommandSpec(
            name: "vet", operands: "FILE", summary: "report what is wrong with a property-list or JSON file",
            example: "vet settings.plist", options: [],
            parse: { words, _ throws(UsageError) in .vet(path: words[0]) }),
        CommandSpec(
            name: "doctor", operands: "[DOMAIN]", summary: "explain the state of a domain's file, and how to mend it",
            details: """
                Shows the path, the format, the permissions, the holder of the lock, quarantined files and the last good copy.
                Changes nothing without --mend.
                """,
            example: "doctor settings.plist", options: [.suite, .file, .mend],
            parse: { words, options throws(UsageError) in
                if !words.isEmpty, options[.suite] != nil || options[.file] != nil {
                    throw UsageError("DOMAIN cannot be combined with --suite or --file")
                }
                return .doctor(words.first.map(Target.init(domain:)), mends: options.has(.mend))
            }),
        CommandSpec(
            name: "undo", operands: "[DOMAIN]", summary: "revert the last write of this tool to a domain",
            details: "Only if nobody has written the file since. A second undo brings the write back.",
            example: "undo settings.plist", options: [.suite, .file, .dryRun, .timeout, .reveal],
            parse: { words, options throws(UsageError) in
                if !words.isEmpty, options[.suite] != nil || options[.file] != nil {
                    throw UsageError("DOMAIN cannot be combined with --suite or --file")
                }
                return .undo(words.first.map(Target.init(domain:)))
            }),
        CommandSpec(
            name: "completions", operands: "[\(Shell.allCases.map(\.rawValue).joined(separator: "|"))]",
            summary: "print the completion script of a shell (bash)",
            example: "completions zsh", options: [],
            parse: { words, _ throws(UsageError) in
                guard let shell = Shell(rawValue: words.first ?? Shell.bash.rawValue) else {
                    throw UsageError(
                        "unknown shell `\(ShownText.key(words[0]))`; completions are available for bash, zsh and fish")
                }
                return .completions(shell)
            }),
        CommandSpec(
            name: "help", operands: "[COMMAND|KEY]", summary: "explain a command, or a key of the preferences",
            example: "help KEY", options: [.manual], parse: { _, _ throws(UsageError) in .help(topic: nil) }),
    ]

    static let stress = CommandSpec(
        name: "stress", operands: "",
        summary: "write from many processes at once, and count lost writes",
        details: "Works in a temporary folder, which it removes. Exits with 1 if a write was lost.",
        example: "stress --threads 8 --processes 4 --kill",
        options: [.threads, .processes, .writes, .seconds, .folder, .kill],
        parse: { _, options throws(UsageError) in .stress(try StressPlan(options)) })

    /// Returns nil for `-`, the standard stream.
    private static func path(_ word: String) -> String? {
        word == "-" ? nil : word
    }

    private static func format(_ name: String?, path: String?) throws(UsageError) -> ExportFormat {
        guard let name else {
            let path = path?.lowercased() ?? ""
            return path.hasSuffix(".xml") ? .xml : path.hasSuffix(".plist") ? .binary : .json
        }
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
