/// An option: its name, the name of its value and its help.
struct OptionSpec: Sendable {
    let name: String
    /// The name of the value in the help; nil if the option takes no value.
    var valueName: String?
    var isRepeatable = false
    /// What its value stands for, if its name does not tell.
    var valueKind: WordKind?
    let summary: String

    static let root = OptionSpec(
        name: "--root", valueName: "NAME", valueKind: .root, summary: "the root key (that of the program)")
    static let suite = OptionSpec(
        name: "--suite", valueName: "NAME", valueKind: .suite,
        summary: "a UserDefaults suite instead of the store of the program")
    static let file = OptionSpec(
        name: "--file", valueName: "PATH", summary: "a property-list or JSON file instead of a suite")
    static let store = OptionSpec(
        name: "--store", valueName: "URL", summary: "a store on other machines: etcd://HOST:PORT/PREFIX")
    static let layers = OptionSpec(
        name: "--layers", valueName: "PREFIX", summary: "read environment variables with this prefix above the store")
    static let layer = OptionSpec(
        name: "--layer", valueName: "FILE", isRepeatable: true,
        summary: "read defaults from this file, below the store; may be repeated")
    static let domain = OptionSpec(
        name: "--domain", valueName: "DOMAIN",
        summary: "a whole domain instead of the set; with --root, one root of it")
    static let format = OptionSpec(
        name: "--format", valueName: "FORMAT",
        summary: "json (default), xml or binary; an import detects the format")
    static let output = OptionSpec(
        name: "-o", valueName: "PATH", summary: "write to this file; an existing one is replaced with --force only")
    static let merge = OptionSpec(
        name: "--merge", summary: "keep the values that are not imported (default)")
    static let replace = OptionSpec(name: "--replace", summary: "remove the values that are not imported")
    static let dryRun = OptionSpec(name: "--dry-run", summary: "show what would change, and change nothing")
    static let mend = OptionSpec(
        name: "--mend", summary: "quarantine a damaged file, and restore the newest known state")
    static let threads = OptionSpec(name: "--threads", valueName: "N", summary: "threads per process (4)")
    static let processes = OptionSpec(name: "--processes", valueName: "P", summary: "number of processes (2)")
    static let writes = OptionSpec(name: "--writes", valueName: "W", summary: "writes per thread (250)")
    static let seconds = OptionSpec(
        name: "--seconds", valueName: "S", summary: "write for so long, instead of a number of writes")
    static let folder = OptionSpec(
        name: "--dir", valueName: "PATH", summary: "work in this folder, and so on its file system")
    static let kill = OptionSpec(name: "--kill", summary: "kill processes at random moments, and restart them")
    static let stored = OptionSpec(name: "--stored", summary: "only a value that is stored; exit 1 if there is none")
    static let defaultText = OptionSpec(
        name: "--default", valueName: "TEXT", summary: "print this text if there is no value")
    static let expected = OptionSpec(
        name: "--if", valueName: "VALUE", summary: "change nothing unless the value is VALUE now")
    static let valueFile = OptionSpec(name: "--from", valueName: "PATH", summary: "the value is the contents of a file")
    static let manual = OptionSpec(name: "--man", summary: "print the manual page")
    static let force = OptionSpec(name: "--force", summary: "do what would otherwise need a confirmation")
    static let timeout = OptionSpec(
        name: "--timeout", valueName: "SECONDS", summary: "fail if another process holds the lock for so long")
    static let reveal = OptionSpec(
        name: "--reveal",
        summary:
            "show sensitive values of the program, which are dots otherwise; of a DOMAIN no value is known to be sensitive"
    )
    static let json = OptionSpec(name: "--json", summary: "print JSON instead of text")
    static let help = OptionSpec(name: "--help", summary: "show this help, or the help of a command")
    static let version = OptionSpec(name: "--version", summary: "show the version")

    /// `--root NAME`
    var synopsis: String { valueName.map { "\(name) \($0)" } ?? name }

    /// What its value stands for; nil if the option takes none, or any text.
    var kind: WordKind? { valueKind ?? valueName.flatMap(WordKind.init) }

    /// True if it needs no command.
    var isGeneral: Bool { [Self.help.name, Self.version.name].contains(name) }

    /// All options, in the order of the help.
    static let all = [
        root, suite, file, store, layers, layer, domain, format, output, merge, replace, dryRun, force, timeout, mend,
        stored,
        defaultText, expected, valueFile, threads, processes, writes, seconds, folder, kill, manual, reveal, json, help,
        version,
    ]

    /// The options that select where the test set is stored.
    static let place = [root, suite, file, store]
    static let target = place + [reveal]
    /// The options of every command that writes.
    static let writing = [dryRun, force, timeout]
    /// The same for commands that may show the values of layers.
    static let layeredTarget = target + [layers, layer]
}
