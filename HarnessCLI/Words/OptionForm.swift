/// An option: its name, and what the help says of it.
struct OptionForm: Sendable {
    let name: String
    /// What its value is called; nil where it has none.
    var value: String?
    let summary: String

    static let root = OptionForm(name: "--root", value: "NAME", summary: "the root key (PrefsTestSet)")
    static let suite = OptionForm(
        name: "--suite", value: "NAME", summary: "a UserDefaults suite (\(TestSetRunner.defaultSuite))")
    static let file = OptionForm(name: "--file", value: "PATH", summary: "a property-list file instead of a suite")
    static let domain = OptionForm(
        name: "--domain", value: "DOMAIN",
        summary: "a whole domain, or with --root one root of it, in the place of the set")
    static let format = OptionForm(
        name: "--format", value: "FORMAT",
        summary: "json (if none is given), xml or binary; an import knows it by itself")
    static let merge = OptionForm(
        name: "--merge", summary: "keep the values that are not imported (if neither is given)")
    static let replace = OptionForm(name: "--replace", summary: "remove the values that are not imported")
    static let dryRun = OptionForm(name: "--dry-run", summary: "show what would change, and change nothing")
    static let mend = OptionForm(
        name: "--mend", summary: "quarantine a damaged file, and restore the newest known state")
    static let threads = OptionForm(name: "--threads", value: "N", summary: "threads of each process (4)")
    static let processes = OptionForm(name: "--processes", value: "P", summary: "processes (2)")
    static let writes = OptionForm(name: "--writes", value: "W", summary: "writes of each thread (250)")
    static let kill = OptionForm(name: "--kill", summary: "kill processes at random moments, and start others")
    static let json = OptionForm(name: "--json", summary: "JSON in the place of text")
    static let help = OptionForm(name: "--help", summary: "this text, or that of a command")
    static let version = OptionForm(name: "--version", summary: "the version")

    /// All there are, in the order of the help.
    static let all = [
        root, suite, file, domain, format, merge, replace, dryRun, mend, threads, processes, writes, kill, json, help,
        version,
    ]

    /// Where the test set is.
    static let place = [root, suite, file]
}
