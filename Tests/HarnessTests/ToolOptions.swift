@testable import PrefsTool

/// The options of the tool, with the lines of the help, and those of each command.
///
/// `HarnessCommandTableTests` compares the tables with the lists of the program, in both directions.
enum ToolOptions {
    /// All options of the program.
    static let all = PrefsCommands.all.flatMap(\.options) + [.json, .help, .version]

    /// A `…` stands behind an option that may be repeated.
    static let texts: [String: String] = [
        "-f WHERE …":
            "another place than the program's own: a file, a UserDefaults domain, the URL of a store, or - for "
            + "standard input. An existing file may also be the first operand. Its keys are then those of the "
            + "file, of any type, and none is known to be sensitive unless the file is the program's own",
        "--root NAME":
            "the program's settings under this root key, also those in WHERE, with their types; of a URL, any root",
        "--layers PREFIX":
            "read environment variables above the store: PREFIX and the key, such as APP_FONT_SIZE or "
            + "APP_fontSize; other characters than letters and digits become _",
        "--layer FILE …": "read defaults from this file, below the store; may be repeated",
        "--domains": "all UserDefaults domains of this user",
        "--sources": "with --json: also the source, the type and the file of each value",
        "-t TYPE": "the type of the value: string, integer, float, boolean, date, data, array, dictionary or json",
        "--type": "print the type instead of the value",
        "--stored": "only a value that is stored; exit 1 if there is none",
        "--default TEXT": "print this text if there is no value",
        "--if VALUE": "change nothing unless the value is VALUE now",
        "--nest": "in a file whose keys have dots, a dot in a new key leads into a new dictionary",
        "--from PATH": "the value is the contents of a file, without the last line end",
        "--all": "remove all values",
        "--format FORMAT":
            "json, xml or binary: the format of the file, whatever its content and its name; for export, the "
            + "format of the output",
        "-o PATH": "write to this file; an existing one is replaced with --force only",
        "--replace": "remove the values that are not imported",
        "--mend": "quarantine a damaged file, and restore the newest known state",
        "--dry-run": "show what would change, and change nothing",
        "--force": "do what would otherwise need a confirmation",
        "--timeout SECONDS": "fail if another process holds the lock for so long",
        "--man": "print the manual page",
        "--reveal": "show sensitive values of the program, which are dots otherwise",
        "--json": "print JSON instead of text",
        "--help": "show this help, or the help of a command",
        "--version": "show the version",
        "--threads N": "threads per process (4)",
        "--processes P": "number of processes (2)",
        "--writes W": "writes per thread (250)",
        "--seconds S": "write for so long, instead of a number of writes",
        "--dir PATH": "work in this folder, and so on its file system",
        "--kill": "kill processes at random moments, and restart them",
    ]

    /// Besides `--json` and `--help`, which every command has.
    static let ofCommands: [String: String] = [
        "show": "-f --format --root --reveal --layers --layer --domains --sources",
        "get": "-f --format --root --reveal --layers --layer --type --stored --default",
        "find": "-f --format --root --reveal --layers --layer --domains",
        "watch": "-f --format --root --reveal --layers --layer",
        "diff": "--reveal",
        "set": "-f --format --root --reveal -t --if --from --nest --dry-run --force --timeout",
        "unset": "-f --format --root --reveal --all --dry-run --force --timeout",
        "cp": "-f --format --root --reveal --nest --dry-run --force --timeout",
        "mv": "-f --format --root --reveal --nest --dry-run --force --timeout",
        "edit": "-f --format --root --reveal --dry-run --force --timeout",
        "undo": "-f --format --root --reveal --dry-run --timeout",
        "export": "-f --format --root --reveal --layers --layer -o --force",
        "import": "-f --format --root --reveal --replace --dry-run --force --timeout",
        "doctor": "-f --format --root --reveal --mend --timeout",
        "schema": "-f --format --root --reveal",
        "completions": "",
        "help": "--man",
        "stress": "--threads --processes --writes --seconds --dir --kill",
    ]
}
