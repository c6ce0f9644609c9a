import PersistentPreferences

/// The words of the command line, understood.
struct Invocation {
    enum Command: Equatable {
        case show
        case get(key: String)
        case set(key: String, value: String)
        case unset(key: String)
        case reset
        case clear
        case deleteAll
        case watch(keys: [String])
        case export(ExportFormat, path: String?)
        case `import`(path: String?, merge: Bool)

        var isExport: Bool { if case .export = self { true } else { false } }
        var isImport: Bool { if case .import = self { true } else { false } }
    }

    enum Place: Equatable {
        case suite(String)
        case file(String)
    }

    private(set) var command = Command.show
    private(set) var root: String?
    private(set) var place: Place?
    private(set) var wantsJSON = false
    private(set) var wantsHelp = false
    private var format: ExportFormat?
    private var merge: Bool?

    /// Options may stand anywhere. What follows `--` is no option; nor is what begins with a single dash, such as −5.
    init(_ arguments: [String]) throws(UsageError) {
        var words: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--":
                words += rest
                rest = []
            case "--json":
                wantsJSON = true
            case "--help", "-h":
                wantsHelp = true
            case "--root":
                guard root == nil else { throw UsageError("--root is given twice; give it once") }
                root = try Self.value(of: word, "NAME", &rest)
            case "--suite":
                try setPlace(.suite(Self.value(of: word, "NAME", &rest)))
            case "--file":
                try setPlace(.file(Self.value(of: word, "PATH", &rest)))
            case "--format":
                guard format == nil else { throw UsageError("--format is given twice; give it once") }
                format = try Self.format(Self.value(of: word, "FORMAT", &rest))
            case "--merge", "--replace":
                guard merge == nil else { throw UsageError("--merge and --replace are two ways; give one, once") }
                merge = word == "--merge"
            case _ where word.hasPrefix("--"):
                throw UsageError(
                    "unknown option \(word); options are --root NAME, --suite NAME, --file PATH, --format FORMAT, "
                        + "--merge, --replace, --json, --help "
                        + "(a value that begins with -- comes after a lone --)")
            default:
                words.append(word)
            }
        }
        if words.first == "help" { wantsHelp = true }
        if !wantsHelp, let name = words.first {
            command = try command(name, Array(words.dropFirst()))
        }
        if wantsHelp { return }
        if format != nil, !command.isExport { throw UsageError("--format is an option of `export` alone") }
        if merge != nil, !command.isImport { throw UsageError("--merge and --replace are options of `import` alone") }
    }

    private mutating func setPlace(_ newPlace: Place) throws(UsageError) {
        guard place == nil else { throw UsageError("--suite and --file name one place; give one of them, once") }
        place = newPlace
    }

    private static func value(
        of option: String, _ kind: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        // An option in its place means that the value was forgotten.
        guard let value = rest.popFirst(), !value.hasPrefix("--") else {
            throw UsageError("\(option) needs a value: \(option) \(kind)")
        }
        return value
    }

    private static func format(_ name: String) throws(UsageError) -> ExportFormat {
        guard let format = ExportFormat(rawValue: name) else {
            throw UsageError("unknown format `\(name)`; formats are json, xml, binary")
        }
        return format
    }

    private func command(_ name: String, _ operands: [String]) throws(UsageError) -> Command {
        func expect(_ form: String) throws(UsageError) {
            let most = form.split(separator: " ").count - 1
            let least = form.hasSuffix("]") ? most - 1 : most
            guard (least...most).contains(operands.count) else {
                let problem = operands.count < least ? "too few words" : "too many words"
                let remedy = name == "set" && operands.count > most ? " (quote a value that has spaces in it)" : ""
                throw UsageError("\(problem) for `\(name)`: prefs \(form)\(remedy)")
            }
        }
        switch name {
        case "get":
            try expect("get KEY")
            return .get(key: operands[0])
        case "set":
            try expect("set KEY VALUE")
            return .set(key: operands[0], value: operands[1])
        case "unset":
            try expect("unset KEY")
            return .unset(key: operands[0])
        case "reset":
            try expect("reset")
            return .reset
        case "clear":
            try expect("clear")
            return .clear
        case "delete-all":
            try expect("delete-all")
            return .deleteAll
        case "watch":
            return .watch(keys: operands)
        case "export":
            try expect("export [PATH]")
            return .export(format ?? .json, path: operands.first.flatMap(Self.path))
        case "import":
            try expect("import [PATH]")
            return .import(path: operands.first.flatMap(Self.path), merge: merge ?? true)
        default:
            throw UsageError(
                "unknown command `\(name)`; commands are get, set, unset, reset, clear, delete-all, watch, export, "
                    + "import, help, and none to show everything")
        }
    }

    /// nil for the standard stream.
    private static func path(_ word: String) -> String? {
        word == "-" ? nil : word
    }

    static let help = """
        prefs: shows and edits a set of five preferences, an Int, a String, an Array, a Dictionary and a Date.

        prefs                  show the set as a table; the harness's own set is given its defaults at the first look
        prefs get KEY          print one value; exit 1 where it is not set
        prefs set KEY VALUE    store one value
        prefs unset KEY        remove one value
        prefs reset            store the default values
        prefs clear            remove all values
        prefs delete-all       remove the root itself
        prefs watch [KEY …]    print the changes of some values, or of all, as they come, until interrupted
        prefs export [PATH]    write all values to a file, or to standard output
        prefs import [PATH]    store the values of an exported file, or of standard input; all or nothing

        KEY is a name or a short name: "Integer Value" or int, "String Value" or string, "Array Value" or array,
        "Dictionary Value" or dictionary, "Date Value" or date. VALUE is typed by its key: 42; any text; a,b,c or
        ["a","b"]; k=v,k2=v2 or {"k":"v"}; 2026-11-20 or 2026-11-20T08:30:00Z.

        --root NAME      the root key (PrefsTestSet)
        --suite NAME     a UserDefaults suite (\(Runner.defaultSuite))
        --file PATH      a property-list file instead of a suite
        --format FORMAT  of an export: json (if none is given), xml or binary; an import knows it by itself
        --merge          import: keep the values of keys that are not imported (if neither is given)
        --replace        import: remove them
        --json           JSON in the place of text; of `watch` an object a line
        --               what follows is no option

        Exit codes: 0 done, 1 refused or failed, 64 wrong usage.

        """
}
