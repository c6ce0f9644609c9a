/// An option: its name, and what the help says of it.
struct OptionSpec: Sendable {
    let name: String
    /// What its value is called; nil where it has none.
    var valueName: String?
    let summary: String

    static let root = OptionSpec(name: "--root", valueName: "NAME", summary: "the root key (PrefsTestSet)")
    static let suite = OptionSpec(
        name: "--suite", valueName: "NAME", summary: "a UserDefaults suite (\(TestSetRunner.defaultSuite))")
    static let file = OptionSpec(name: "--file", valueName: "PATH", summary: "a property-list file instead of a suite")
    static let domain = OptionSpec(
        name: "--domain", valueName: "DOMAIN",
        summary: "a whole domain, or with --root one root of it, in the place of the set")
    static let format = OptionSpec(
        name: "--format", valueName: "FORMAT",
        summary: "json (if none is given), xml or binary; an import knows it by itself")
    static let merge = OptionSpec(
        name: "--merge", summary: "keep the values that are not imported (if neither is given)")
    static let replace = OptionSpec(name: "--replace", summary: "remove the values that are not imported")
    static let dryRun = OptionSpec(name: "--dry-run", summary: "show what would change, and change nothing")
    static let mend = OptionSpec(
        name: "--mend", summary: "quarantine a damaged file, and restore the newest known state")
    static let threads = OptionSpec(name: "--threads", valueName: "N", summary: "threads of each process (4)")
    static let processes = OptionSpec(name: "--processes", valueName: "P", summary: "processes (2)")
    static let writes = OptionSpec(name: "--writes", valueName: "W", summary: "writes of each thread (250)")
    static let kill = OptionSpec(name: "--kill", summary: "kill processes at random moments, and start others")
    static let json = OptionSpec(name: "--json", summary: "JSON in the place of text")
    static let help = OptionSpec(name: "--help", summary: "this text, or that of a command")
    static let version = OptionSpec(name: "--version", summary: "the version")

    /// All there are, in the order of the help.
    static let all = [
        root, suite, file, domain, format, merge, replace, dryRun, mend, threads, processes, writes, kill, json, help,
        version,
    ]

    /// Where the test set is.
    static let target = [root, suite, file]
}
