import PersistentPreferences

/// The words of the command line, understood.
struct Invocation {
    enum Command {
        case show
        case get(key: String)
        case set(key: String, value: String)
        case unset(key: String)
        case reset
        case clear
        case deleteAll
        case edit
        case watch(keys: [String])
        case export(ExportFormat, path: String?)
        case `import`(path: String?, merge: Bool, dryRun: Bool)
        case read(Place, root: String?, key: String?)
        case readType(Place, root: String, key: String?)
        case write(Place, root: String, key: String?, WrittenValue)
        case delete(Place, root: String?, key: String?)
        case vet(path: String)
        case doctor(Place?, mends: Bool)
        case stress(StressPlan)
        case completions
        case help(CommandForm?)
        case version
    }

    let command: Command
    let root: String?
    /// Where the user says that the set is; nil for the harness's own place.
    let place: Place?
    /// A whole domain, or a root of one, in the place of the set.
    let domain: Place?
    let wantsJSON: Bool

    init(_ arguments: [String]) throws(UsageError) {
        let options = try Options(arguments)
        wantsJSON = options.has(.json)
        root = options[.root]
        domain = options[.domain].map(Place.init(domain:))
        switch (options[.suite], options[.file]) {
        case (let suite?, nil): place = .suite(suite)
        case (nil, let file?): place = .file(file)
        case (nil, nil): place = nil
        default: throw UsageError("--suite and --file name one place; give one of them")
        }
        command = try Self.command(options)
        if place != nil, domain != nil { throw UsageError("--domain is a place of its own; give no --suite or --file") }
    }

    private static func command(_ options: Options) throws(UsageError) -> Command {
        if options.has(.version) { return .version }
        var words = options.words[...]
        let name = words.popFirst()
        if name == "help" || options.has(.help) {
            let topic = name == "help" ? words.first : name
            return .help(try topic.map(form))
        }
        let form = try name.map(form) ?? .show
        for name in options.names {
            guard let option = OptionForm.all.first(where: { $0.name == name }), !form.accepts(option) else { continue }
            let owners = CommandForm.all.filter { $0.accepts(option) }.map { "`\($0.name)`" }
            throw UsageError("\(name) is no option of `\(form.name)`, but of \(owners.joined(separator: ", "))")
        }
        guard form.operandCount.contains(words.count) else {
            let problem = words.count < form.operandCount.lowerBound ? "too few words" : "too many words"
            let remedy =
                form.name == "set" && problem == "too many words" ? " (quote a value that has spaces in it)" : ""
            throw UsageError("\(problem) for `\(form.name)`: prefs \(form.synopsis)\(remedy)")
        }
        return try form.command(Array(words), options)
    }

    /// The command of that name.
    private static func form(_ name: String) throws(UsageError) -> CommandForm {
        guard let form = CommandForm.all.first(where: { $0.name == name }) else {
            throw UsageError(
                "unknown command `\(ShownText.key(name))`\(Suggestion.textOrHelp(name, among: CommandForm.all.map(\.name)))"
            )
        }
        return form
    }
}
