import PersistentPreferences

/// A parsed command line.
struct Invocation {
    enum Command {
        case show
        case get(key: String, stored: Bool, defaultText: String?)
        case set([(key: String, text: String)], expected: String?)
        case unset(keys: [String])
        case reset
        case increment(key: String, amount: String)
        case toggle(key: String)
        case edit(Target?)
        case watch(keys: [String])
        /// A domain and places in it. If the first word is a key of the class, the words are keys.
        case watchDomain(words: [String])
        case schema
        case export(ExportFormat, domain: Target?, path: String?)
        case `import`(domain: Target?, path: String?, merge: Bool)
        case domains
        case find(String)
        case read(Target?, DomainPlace)
        case readType(Target, DomainPlace)
        case write(Target, DomainPlace, ParsedValue, expected: String?)
        case rename(Target, DomainPlace, to: String)
        case delete(Target, DomainPlace)
        case undo(Target?)
        case vet(path: String)
        case doctor(Target?, mends: Bool)
        case stress(StressPlan)
        case completions(Shell)
        /// The help of the program, of a command or of a key.
        case help(topic: String?)
        case manual
        case version
    }

    let command: Command
    let root: String?
    /// The location of the test set that the user named; nil for the default suite.
    let target: Target?
    /// The store that the user named by a URL.
    let store: (any PrefsStore)?
    private let storeURL: String?
    /// The URL without user and password, for messages.
    var storeName: String? {
        storeURL?.replacing(/\/\/[^\/]*@/) { _ in "//" }
    }
    /// The prefix of the environment variables that are read above the store.
    let layers: String?
    /// The paths of the files that are read below the store, as they were given.
    let layerFiles: [String]
    let wantsJSON: Bool
    /// Whether sensitive values are shown.
    let reveals: Bool
    /// True if a command prints what it would change, and changes nothing.
    let isDryRun: Bool
    /// True if nothing needs a confirmation.
    let isForced: Bool
    /// The longest wait for a lock, in seconds; nil to wait for ever.
    let timeout: Double?

    init(_ arguments: [String], of program: Program) throws(UsageError) {
        let options = try Options(arguments, of: program)
        wantsJSON = options.has(.json)
        reveals = options.has(.reveal)
        isDryRun = options.has(.dryRun)
        isForced = options.has(.force)
        timeout = try options.seconds(.timeout)
        root = options[.root]
        layers = options[.layers]
        storeURL = options[.store]
        do throws(PrefsError) {
            store = try storeURL.flatMap { url throws(PrefsError) in try program.storeOfURL?(url) }
        } catch {
            throw UsageError("\(error)")
        }
        for option in [OptionSpec.suite, .file, .domain, .timeout] where storeURL != nil && options[option] != nil {
            throw UsageError("--store cannot be combined with \(option.name)")
        }
        layerFiles = options.all(.layer)
        switch (options[.suite], options[.file]) {
        case (let suite?, nil): target = .suite(suite)
        case (nil, let file?): target = .file(file)
        case (nil, nil): target = nil
        default: throw UsageError("--suite and --file cannot be combined; give one of them")
        }
        command = try Self.command(options, of: program)
        guard options.has(.domain) else { return }
        if target != nil { throw UsageError("--domain cannot be combined with --suite or --file") }
        if hasLayers { throw UsageError("--domain cannot be combined with --layers or --layer") }
    }

    var hasLayers: Bool { layers != nil || !layerFiles.isEmpty }

    private static func command(_ options: Options, of program: Program) throws(UsageError) -> Command {
        if options.has(.version) { return .version }
        var operands = options.operands[...]
        let name = operands.popFirst()
        if name == "help" || options.has(.help) {
            if options.has(.manual) { return .manual }
            return .help(topic: name == "help" ? operands.first : name)
        }
        let spec = try name.map { word throws(UsageError) in try Self.spec(word, of: program) } ?? CommandSpec.show
        for name in options.optionNames {
            guard let option = OptionSpec.all.first(where: { $0.name == name }), !spec.accepts(option) else { continue }
            let owners = program.commands.filter { $0.accepts(option) }.map { "`\($0.name)`" }
            throw UsageError(
                "`\(spec.name)` does not accept \(name); it is an option of \(owners.joined(separator: ", "))")
        }
        guard spec.operandCount.contains(operands.count) else {
            let problem = operands.count < spec.operandCount.lowerBound ? "too few arguments" : "too many arguments"
            let remedy = problem == "too many arguments" ? Self.remedies[spec.name] ?? "" : ""
            throw UsageError("\(problem) for `\(spec.name)`: \(program.name) \(spec.synopsis)\(remedy)")
        }
        return try spec.parse(Array(operands), options)
    }

    /// What to do about too many arguments.
    private static let remedies = [
        "set": " (quote a value that contains spaces)",
        "export": " (-o PATH writes to a file, --domain DOMAIN exports another domain)",
        "import": " (--domain DOMAIN stores the values in another domain)",
    ]

    /// Returns the command with that name.
    private static func spec(_ name: String, of program: Program) throws(UsageError) -> CommandSpec {
        guard let spec = program.commands.first(where: { $0.name == name }) else {
            throw UsageError(
                "unknown command `\(ShownText.key(name))`\(Suggestion.textOrHelp(name, among: program.commands.map(\.name)))"
            )
        }
        return spec
    }
}
