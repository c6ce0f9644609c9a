import PrefsJSON

/// An option: its name, the name of its value and its help.
package struct OptionSpec: Sendable {
    let name: String
    /// The name of the value in the help; nil if the option takes no value.
    var valueName: String?
    var isRepeatable = false
    /// The kind of its value, if the name of the value does not tell.
    var valueKind: WordKind?
    let summary: String

    package init(name: String, valueName: String? = nil, summary: String) {
        self.init(name: name, valueName: valueName, kind: nil, summary: summary)
    }

    private init(
        name: String, valueName: String?, isRepeatable: Bool = false, kind: WordKind?, summary: String
    ) {
        (self.name, self.valueName, self.isRepeatable) = (name, valueName, isRepeatable)
        (valueKind, self.summary) = (kind, summary)
    }

    static let place = OptionSpec(
        name: "-f", valueName: "WHERE", isRepeatable: true, kind: .place,
        summary: """
            another place than the program's own: a file, a UserDefaults domain, the URL of a store, or - for standard input. An existing \
            file may also be the first operand. Its keys are then those of the file, of any type, and none is known to be sensitive unless the file is the program's own
            """)
    static let root = OptionSpec(
        name: "--root", valueName: "NAME", kind: .root,
        summary:
            "the program's settings under this root key, also those in WHERE, with their types; of a URL, any root")
    static let layers = OptionSpec(
        name: "--layers", valueName: "PREFIX",
        summary:
            "read environment variables above the store: PREFIX and the key, such as APP_FONT_SIZE or APP_fontSize; other characters than letters and digits become _"
    )
    static let layer = OptionSpec(
        name: "--layer", valueName: "FILE", isRepeatable: true, kind: nil,
        summary: "read defaults from this file, below the store; may be repeated")
    static let domains = OptionSpec(name: "--domains", summary: "all UserDefaults domains of this user")
    static let sources = OptionSpec(
        name: "--sources", summary: "with --json: also the source, the type and the file of each value")
    static let type = OptionSpec(
        name: "-t", valueName: "TYPE", kind: .type,
        summary: "the type of the value: \(PropertyListType.allCases.map(\.rawValue).joined(separator: ", ")) or json")
    static let printType = OptionSpec(name: "--type", summary: "print the type instead of the value")
    static let stored = OptionSpec(name: "--stored", summary: "only a value that is stored; exit 1 if there is none")
    static let defaultText = OptionSpec(
        name: "--default", valueName: "TEXT", summary: "print this text if there is no value")
    static let expected = OptionSpec(
        name: "--if", valueName: "VALUE", kind: .value, summary: "change nothing unless the value is VALUE now")
    static let nest = OptionSpec(
        name: "--nest", summary: "in a file whose keys have dots, a dot in a new key leads into a new dictionary")
    static let valueFile = OptionSpec(
        name: "--from", valueName: "PATH", summary: "the value is the contents of a file, without the last line end")
    static let all = OptionSpec(name: "--all", summary: "remove all values")
    static let format = OptionSpec(
        name: "--format", valueName: "FORMAT",
        summary:
            "json, xml or binary: the format of the file, whatever its content and its name; for export, the format of the output"
    )
    static let output = OptionSpec(
        name: "-o", valueName: "PATH", summary: "write to this file; an existing one is replaced with --force only")
    static let replace = OptionSpec(name: "--replace", summary: "remove the values that are not imported")
    static let mend = OptionSpec(
        name: "--mend", summary: "quarantine a damaged file, and restore the newest known state")
    static let dryRun = OptionSpec(name: "--dry-run", summary: "show what would change, and change nothing")
    static let force = OptionSpec(name: "--force", summary: "do what would otherwise need a confirmation")
    static let timeout = OptionSpec(
        name: "--timeout", valueName: "SECONDS", summary: "fail if another process holds the lock for so long")
    static let manual = OptionSpec(name: "--man", summary: "print the manual page")
    static let reveal = OptionSpec(
        name: "--reveal", summary: "show sensitive values of the program, which are dots otherwise")
    static let json = OptionSpec(name: "--json", summary: "print JSON instead of text")
    static let help = OptionSpec(name: "--help", summary: "show this help, or the help of a command")
    static let version = OptionSpec(name: "--version", summary: "show the version")

    /// `--root NAME`
    var synopsis: String { valueName.map { "\(name) \($0)" } ?? name }

    /// The kind of its value; nil if the option takes no value, or any text.
    var kind: WordKind? { valueKind ?? valueName.flatMap(WordKind.init) }

    /// True if it needs no command.
    var isGeneral: Bool { [Self.help.name, Self.version.name].contains(name) }

    /// The options that select what a command works on.
    static let places = [place, format, root, reveal]
    /// Also the options for layers around the store, for commands that only read.
    static let layeredPlaces = places + [layers, layer]
    /// The options of every command that writes.
    static let writing = [dryRun, force, timeout]
}
