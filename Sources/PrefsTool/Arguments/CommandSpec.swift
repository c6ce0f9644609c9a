/// A command: its name, its operands, its help and its parser. Parsing, help and completions all use the list `CommandSpec.all`.
struct CommandSpec: Sendable {
    let name: String
    /// The operands after the name, as the help shows them. `[WORD]` is optional. `WORD …` may be repeated.
    let operands: String
    let summary: String
    /// Further lines for `prefs help COMMAND`.
    var details = ""
    let example: String
    /// The options besides `--json` and `--help`, which every command accepts.
    let options: [OptionSpec]
    /// The fewest operands, if an option may take the place of one that the help shows.
    var minimumOperands: Int?
    /// Makes the command of its operands. Their number is within `operandCount`.
    let parse: @Sendable (_ operands: [String], _ options: Options) throws(UsageError) -> Invocation.Command

    /// `set KEY VALUE`
    var synopsis: String { operands.isEmpty ? name : "\(name) \(operands)" }

    /// The number of operands that the command accepts.
    var operandCount: ClosedRange<Int> {
        var minimum = 0
        var maximum = 0
        var isOptional = false
        for word in operands.split(separator: " ") {
            if word == "…" || word == "…]" {
                maximum = .max
            } else {
                isOptional = isOptional || word.hasPrefix("[")
                minimum += isOptional ? 0 : 1
                maximum += maximum == .max ? 0 : 1
            }
        }
        return (minimumOperands ?? minimum)...maximum
    }

    func accepts(_ option: OptionSpec) -> Bool {
        (options + [.json, .help]).contains { $0.name == option.name }
    }
}
