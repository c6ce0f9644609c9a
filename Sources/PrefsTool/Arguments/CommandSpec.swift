import PrefsJSON

/// A command: its name, its operands, its help and what it does. Parsing, help and completions all use the list of the
/// program.
package struct CommandSpec: Sendable {
    package let name: String
    /// The operands after the name, as the help shows them. `[WORD]` is optional. `WORD …` may be repeated.
    let operands: String
    let summary: String
    /// Further lines for `prefs help COMMAND`.
    var details = ""
    /// An example. `KEY` and `VALUE` stand for a key of the program and its default.
    let example: String
    /// Where the help lists it.
    var group = Group.other
    /// The options besides `--json` and `--help`, which every command accepts.
    let options: [OptionSpec]
    /// Runs the command. The number of its operands is within `operandCount`.
    let run: @Sendable (_ invocation: Invocation) throws -> Outcome

    package init(
        _ name: String, _ operands: String = "", _ summary: String, details: String = "", example: String,
        options: [OptionSpec] = [], run: @escaping @Sendable (_ invocation: Invocation) throws -> Outcome
    ) {
        (self.name, self.operands, self.summary, self.details) = (name, operands, summary, details)
        (self.example, self.options, self.run) = (example, options, run)
    }

    /// The groups of commands, in the order of the help. The raw value is the title.
    enum Group: String, CaseIterable {
        case reading = "Read:"
        case writing = "Write:"
        case transfer = "Export and import:"
        case other = "Other commands:"
    }

    func inGroup(_ group: Group) -> CommandSpec {
        var spec = self
        spec.group = group
        return spec
    }

    /// `set KEY VALUE`
    var synopsis: String { operands.isEmpty ? name : "\(name) \(operands)" }

    /// The number of operands that the command accepts.
    var operandCount: ClosedRange<Int> {
        var minimum = 0
        var maximum = 0
        // The number of open brackets.
        var depth = 0
        for word in operands.split(separator: " ") {
            depth += word.count { $0 == "[" }
            if word.hasPrefix("…") {
                maximum = .max
            } else {
                minimum += depth > 0 ? 0 : 1
                maximum += maximum == .max ? 0 : 1
            }
            depth -= word.count { $0 == "]" }
        }
        return minimum...maximum
    }

    func accepts(_ option: OptionSpec) -> Bool {
        (options + [.json, .help]).contains { $0.name == option.name }
    }
}

/// What a word of a command line stands for. The raw value is its name in the help.
enum WordKind: String {
    /// A key of the settings, or a path to a value.
    case key = "KEY"
    /// A value of the key before it.
    case value = "VALUE"
    /// A UserDefaults domain, the path of a file or the URL of a store.
    case place = "WHERE"
    case root = "ROOT"
    case path = "PATH"
    case file = "FILE"
    case command = "COMMAND"
    case format = "FORMAT"
    case type = "TYPE"
}

extension CommandSpec {
    /// The alternatives for the operand at an index, such as `["COMMAND", "KEY"]`; none if there is no such operand. A
    /// word in lowercase letters is literal.
    func alternatives(at index: Int) -> [String] {
        let words = operands.filter { $0 != "[" && $0 != "]" }.split(separator: " ")
        let isRepeated = words.last == "…"
        let names = words.filter { $0 != "…" }
        guard index < names.count || isRepeated, let name = names[safe: index] ?? names.last else { return [] }
        return name.split(separator: "|").map(String.init)
    }
}
