import PersistentPreferences
import PrefsJSON

extension CommandSpec {
    /// The commands on the settings of a program, and with `-f` on any file or domain. The first one runs if none is
    /// given.
    static let all: [CommandSpec] =
        readingCommands.map { $0.inGroup(.reading) } + writingCommands.map { $0.inGroup(.writing) }
        + transferCommands.map { $0.inGroup(.transfer) } + otherCommands

    private static let readingCommands: [CommandSpec] = [
        CommandSpec(
            "show", "[KEY …]", "show the values as a table",
            details: """
                Values that are not stored are the defaults of the program. Of a store with a URL, lists the roots; --root NAME shows the
                values of one.
                """,
            example: "show", options: OptionSpec.layeredPlaces + [.domains, .sources],
            run: { try RootList.outcome($0) ?? Runner($0).show() }),
        CommandSpec(
            "get", "KEY …", "print the values that the program reads",
            details: """
                KEY may lead into a value: `window.size[0]`. The value is the default if nothing is stored. With --json, each value has
                the form of an export, which `set` reads as exactly this value.
                """,
            example: "get KEY", options: OptionSpec.layeredPlaces + [.printType, .stored, .defaultText],
            run: { try Runner($0).get() }),
        CommandSpec(
            "find", "WORD", "search the keys, the help and the values",
            details: "Ignores case. Exits with 1 if nothing is found.", example: "find size",
            options: OptionSpec.layeredPlaces + [.domains], run: { try Runner($0).find() }),
        CommandSpec(
            "watch", "[KEY …]", "print changes as they happen, until interrupted",
            details: """
                Prints the changes of the given keys, or of all keys. With --json, prints one object per line. A change of a root in a fleet
                ends with the host, program and process that wrote it, if they are known; in JSON they are `by`.
                """,
            example: "watch", options: OptionSpec.layeredPlaces,
            run: { invocation in
                try Watch(Place(of: invocation), invocation).run()
                return Outcome()
            }),
        CommandSpec(
            "diff", "WHERE WHERE", "show what differs between two files or domains",
            details: """
                Prints the places that differ, also inside of arrays. If one is JSON, 14 and 14.0 are equal, because JSON has one type
                of numbers; two property lists are compared with their types. Exits with 0 if nothing differs, with 1 if something does, with 2
                if one cannot be read.
                """,
            example: "diff old.json new.json", options: [.reveal], run: { Runner.diff($0) }),
    ]

    private static let writingCommands: [CommandSpec] = [
        CommandSpec(
            "set", "KEY [VALUE …]", "store values: KEY VALUE, or KEY=VALUE …",
            details: """
                The type of the property determines how VALUE is read: 42; any text; a,b,c or ["a","b"]; {"k":"v"}; 2026-11-20 or
                2026-11-20T08:30:00Z. `+2` adds to a number, `+-2` subtracts, and `toggle` negates a Boolean. `KEY[+]` appends to an
                array. `-` is standard input. A text in double quotes is the string inside, as `get --json` prints it.
                Several values are stored together, or none.
                With -f, an array or a dictionary in JSON is one; other text is of the type of the value that it replaces. A new one is a number, a Boolean, an array or a dictionary
                if it is JSON, else a string; in a JSON file, `null` is null. -t names another type. Missing dictionaries and arrays on the way to KEY are created. In the name of a new key,
                `\\.` and `\\[` stand for the dot and the bracket; in any KEY, `["a.b"]` is the key in the quotes of JSON.
                """,
            example: "set KEY VALUE",
            options: OptionSpec.places + [.type, .expected, .valueFile, .nest] + OptionSpec.writing,
            run: { try Runner($0).set() }),
        CommandSpec(
            "unset", "[KEY …]", "remove values, so that their defaults apply", example: "unset KEY",
            options: OptionSpec.places + [.all] + OptionSpec.writing, run: { try Runner($0).unset() }),
        CommandSpec(
            "cp", "KEY … [TO]", "copy values, with their types",
            details: """
                KEY may be FILE:KEY. TO is a key, FILE:KEY, or a file, in which the values keep their keys; `FILE:` is a new file. With two
                -f, copies the keys from the first to the second. In one file, all values change together.
                """,
            example: "cp a.json:window b.plist", options: OptionSpec.places + [.nest] + OptionSpec.writing,
            run: { try Copy($0, isMove: false).run() }),
        CommandSpec(
            "mv", "KEY … [TO]", "move values, with their types",
            details: "As `cp`, and removes the values. In another file, they are stored before they are removed here.",
            example: "mv a.json:editor.size a.json:editor.fontSize",
            options: OptionSpec.places + [.nest] + OptionSpec.writing,
            run: { try Copy($0, isMove: true).run() }),
        CommandSpec(
            "edit", "", "edit the values in a text editor",
            details: """
                Opens the settings as JSON with comments, or the own text of a JSON file or an XML property list, in $VISUAL, else $EDITOR,
                else vi. When the editor ends, the changes are stored. After a wrong line it opens again; leave the text as it is to give
                up. An editor that fails, such as :cq of vi, and an empty text change nothing. Asks if another process has changed the same
                value.
                """,
            example: "edit", options: OptionSpec.places + OptionSpec.writing, run: { try Runner($0).edit() }),
        CommandSpec(
            "undo", "", "revert the last write of this tool to a file, and print what that changes",
            details: """
                Only if nobody has written the file since. Repeat it to go back further: the last ten writes of the tool are kept for the
                fifty files that it wrote last.
                """,
            example: "undo", options: OptionSpec.places + [.dryRun, .timeout], run: { try Runner($0).undo() }),
    ]

    private static let transferCommands: [CommandSpec] = [
        CommandSpec(
            "export", "", "print the stored values, or write them to a file",
            details: """
                The extension of PATH selects the format: json, xml, or plist for a binary property list. `-o -` prints, as without -o.
                From a JSON file, json has its nulls and all digits; the other formats ask before they lose them.
                """,
            example: "export -o set.json", options: OptionSpec.layeredPlaces + [.output, .force],
            run: { try Runner($0).export() }),
        CommandSpec(
            "import", "[PATH]", "store the values of a file, or of standard input; all or nothing",
            details: """
                Detects the format. Keeps the values that PATH lacks, unless --replace is given. With -f, dictionaries that exist on
                both sides are merged key by key. Only a JSON file stores nulls.
                """,
            example: "import --dry-run set.plist",
            options: OptionSpec.places + [.replace] + OptionSpec.writing, run: { try Runner($0).importValues() }),
    ]

    private static let otherCommands: [CommandSpec] = [
        CommandSpec(
            "doctor", "", "explain the state of a file, what is wrong with its values, and how to mend it",
            details: """
                Shows the path, the format, the permissions, the holder of the lock, quarantined files and the last good copy.
                Changes nothing without --mend.
                """,
            example: "doctor", options: OptionSpec.places + [.mend, .timeout], run: { try Doctor($0).run() }),
        CommandSpec(
            "schema", "", "print the JSON Schema of the settings file", example: "schema",
            options: OptionSpec.places, run: { try Runner($0).schema() }),
        CommandSpec(
            "completions", "[\(Shell.allCases.map(\.rawValue).joined(separator: "|"))]",
            "print the completion script of a shell (bash)", example: "completions zsh",
            run: { invocation in
                let name = invocation.operands.first ?? Shell.bash.rawValue
                guard let shell = Shell(rawValue: name) else {
                    throw UsageError(
                        "unknown shell `\(ShownText.key(name))`; completions are available for bash, zsh and fish")
                }
                return Outcome(output: CompletionScript(of: invocation.program).text(for: shell))
            }),
        help,
    ]

    fileprivate static let help = CommandSpec(
        "help", "[COMMAND|KEY|\(Help.optionsTopic)]",
        "explain a command, a key of the settings, or the options of most commands", example: "help KEY",
        options: [.manual],
        run: { invocation in
            Outcome(
                output: invocation.options.has(.manual)
                    ? ManualPage(of: invocation.program).text
                    : try Help(of: invocation.program).text(invocation.operands.first))
        })

    /// What `--version` runs.
    fileprivate static let version = CommandSpec(
        "version", "", "print the version", example: "--version",
        run: { Outcome(output: "\($0.program.name) \(Help.version)\n") })
}

extension Program {
    /// A program with the commands of the tool.
    init(
        name: String, target: Target? = nil, storeOfURL: ((String) throws(PrefsError) -> PrefsStore)? = nil,
        commands: [CommandSpec] = CommandSpec.all,
        make: @escaping (_ root: String?, _ store: PrefsStore?) -> PersistentPrefs,
        context: ProcessContext = .process
    ) {
        self.init(
            name: name, target: target, storeOfURL: storeOfURL, commands: commands, help: .help, version: .version,
            make: make, context: context)
    }
}
