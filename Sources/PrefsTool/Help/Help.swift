import PersistentPreferences
import PrefsLayers

/// The text of `help`: of the program, of a command and of a key of the class. No line is wider than 80 columns.
struct Help {
    static let version = "0.9.0"
    /// The day of the version, for the manual page.
    static let date = "2026-11-22"
    static let width = 80
    /// The topic of the options that most commands have.
    static let optionsTopic = "options"

    private let program: Program

    init(of program: Program) {
        self.program = program
    }

    /// - Throws: `UsageError` if the topic is neither a command nor a key.
    func text(_ topic: String?) throws(UsageError) -> String {
        guard let topic else { return overview }
        if topic == Self.optionsTopic { return Self.columns(commonOptions.map { ($0.synopsis, $0.summary) }) }
        if let spec = program.commands.first(where: { $0.name == topic }) { return text(spec) }
        let prefs = program.sample
        let keys = PrefsKey.all(of: prefs)
        if let key = PrefsKey.named(topic, among: keys) { return text(key, of: prefs) }
        let known = program.commands.map(\.name) + keys.flatMap { [$0.shortName, $0.name] }
        throw UsageError(
            "unknown command or key `\(ShownText.key(topic))`\(Suggestion.textOrHelp(topic, among: known))")
    }

    // MARK: - Program

    private var overview: String {
        let longest = program.commands.map(\.name.count).max() ?? 0
        let groups = groups.map { title, specs in
            title + "\n" + Self.columns(specs.map { ($0.name, $0.summary) }, first: longest)
        }
        let name = program.name
        return """
            \(Self.paragraph("Usage: \(name) [COMMAND] [OPTION …]; without a command, shows the settings."))
            \(Self.paragraph("The commands work on the settings of \(owner), whose keys have types. With -f WHERE they work on any file or UserDefaults domain, of whose keys nothing is known."))
            \(groups.joined(separator: "\n"))
            \(Self.paragraph("`\(name) help COMMAND` shows operands, options and an example; `help KEY` a key; `help \(Self.optionsTopic)` the options of most commands; `help --man` all of it. --json prints JSON."))
            \(Self.paragraph(Self.exitCodes))

            """
    }

    /// The options that most commands have. The help of a command names them only.
    private var commonOptions: [OptionSpec] {
        let common = OptionSpec.layeredPlaces + [.json, .help]
        return program.options.filter { option in common.contains { $0.name == option.name } }
    }

    /// The groups of commands, in the order of the help.
    private var groups: [(title: String, specs: [CommandSpec])] {
        CommandSpec.Group.allCases.map { group in (group.rawValue, program.commands.filter { $0.group == group }) }
            .filter { !$0.1.isEmpty }
    }

    static let exitCodes =
        "Exit codes: 0 done, 1 rejected and unchanged, 64 usage, 128 plus the number of the signal that ended the program (0 for watch); diff: 0 equal, 1 different, 2 trouble."

    /// The program without the word for the tool.
    private var owner: String {
        let words = program.name.split(separator: " ")
        return words.count > 1 ? String(words[0]) : "its test set"
    }

    // MARK: - Commands and keys

    private func text(_ spec: CommandSpec) -> String {
        let details = spec.details.isEmpty ? "" : "\n" + Self.wrapped(spec.details)
        let options = program.options.filter(spec.accepts)
        let own = options.filter { !commonOptions.map(\.name).contains($0.name) }
        let common = options.filter { commonOptions.map(\.name).contains($0.name) }.map(\.synopsis)
        let rows = own.isEmpty ? "" : Self.columns(own.map { ($0.synopsis, $0.summary) }) + "\n"
        return """
            \(Self.paragraph("\(program.name) \(spec.synopsis)"))
            \(Self.paragraph(Self.sentence(spec.summary)))
            \(details)
            \(rows)\(Self.paragraph("Also \(common.joined(separator: ", ")): see `\(program.name) help \(Self.optionsTopic)`."))

            Example: \(program.name) \(example(of: spec))

            """
    }

    /// The example with a key of the class that the command can change, and the default of the key.
    func example(of spec: CommandSpec) -> String {
        guard spec.example.contains("KEY") else { return spec.example }
        let prefs = program.sample
        func value(_ key: PrefsKey) -> StoredValue? { prefs.storedDefault(forKey: key.name) }
        guard let key = PrefsKey.all(of: prefs).first(where: { !prefs.isSensitive($0.name) }) else {
            return spec.example
        }
        let text = value(key).map(ValueText.line) ?? "VALUE"
        return spec.example.replacing("KEY", with: ShellCommand.text([key.shortName])).replacing(
            "VALUE", with: text == "VALUE" ? text : ShellCommand.text([text]))
    }

    private func text(_ key: PrefsKey, of prefs: PersistentPrefs) -> String {
        var rows = [("key", key.name)]
        if key.shortName != key.name { rows.append(("name", key.shortName)) }
        rows.append(("type", key.typeName))
        rows.append(
            (
                "default",
                prefs.isSensitive(key.name)
                    ? ShownText.hidden : prefs.storedDefault(forKey: key.name).map(ValueText.line) ?? "(none)"
            ))
        if let constraint = key.description?.constraint { rows.append(("constraint", constraint)) }
        if let choices = key.description?.choices { rows.append(("choices", choices.joined(separator: ", "))) }
        if let former = key.description?.formerKeys, !former.isEmpty {
            rows.append(("formerly", former.joined(separator: ", ")))
        }
        for (kind, names) in (program.target == nil ? program.own : prefs).namesInLayers(ofKey: key.name) {
            rows.append((kind, names.joined(separator: ", ")))
        }
        let help = key.description?.help.map { "\n" + Self.paragraph($0.printable) + "\n" } ?? ""
        let example = prefs.isSensitive(key.name) ? nil : prefs.storedDefault(forKey: key.name)
        let value = example.map { prefs.text(of: $0, forKey: key.name) } ?? "VALUE"
        return Self.columns(rows.map { ($0.0, $0.1.printable) }) + help
            + "\nExample: \(program.name) set \(ShellCommand.text([key.shortName, value]))\n"
    }

    // MARK: - Layout

    /// Two columns. The second is wrapped.
    private static func columns(_ rows: [(String, String)], first: Int? = nil) -> String {
        let indent = 2
        let first = first ?? min(24, rows.map { DisplayWidth.of($0.0) }.max() ?? 0)
        let left = indent + first + 2
        return rows.map { head, text in
            let lines = DisplayWidth.lines(text, width: width - left)
            // A wide head has its own line.
            let space =
                DisplayWidth.of(head) > first
                ? "\n" + DisplayWidth.spaces(left) : DisplayWidth.spaces(first - DisplayWidth.of(head) + 2)
            return DisplayWidth.spaces(indent) + head + space
                + lines.joined(separator: "\n" + DisplayWidth.spaces(left)) + "\n"
        }.joined()
    }

    static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix("…") ? "" : ".")
    }

    static func paragraph(_ text: String) -> String {
        DisplayWidth.lines(text, width: width).joined(separator: "\n")
    }

    /// Wraps paragraphs. A line that begins with a space stays as it is.
    private static func wrapped(_ text: String) -> String {
        var result = ""
        var paragraph = ""
        func flush() {
            if !paragraph.isEmpty { result += Self.paragraph(paragraph) + "\n" }
            paragraph = ""
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || line.hasPrefix(" ") {
                flush()
                result += line + "\n"
            } else {
                paragraph += (paragraph.isEmpty ? "" : " ") + line
            }
        }
        flush()
        return result
    }
}
