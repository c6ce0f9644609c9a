/// A command: its name and words, what the help says of it, and what it makes of its words. `CommandSpec.all` is the one
/// list that parsing, help and completions go by.
struct CommandSpec: Sendable {
    let name: String
    /// The words behind the name, as the help shows them. `[WORD]` may be left out, `WORD …` repeated.
    let operands: String
    let summary: String
    /// More lines for its own help.
    var details = ""
    let example: String
    /// Besides `--json` and `--help`, which all have.
    let options: [OptionSpec]
    /// Gets words that are as many as `operands` says.
    let parse: @Sendable (_ operands: [String], _ options: Options) throws(UsageError) -> Invocation.Command

    /// `set KEY VALUE`
    var synopsis: String { operands.isEmpty ? name : "\(name) \(operands)" }

    /// How many words it takes.
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
        return minimum...maximum
    }

    /// True if the first operand is a key of the test set.
    var takesKeyFirst: Bool { operands.hasPrefix("KEY") || operands.hasPrefix("[KEY") }

    func accepts(_ option: OptionSpec) -> Bool {
        (options + [.json, .help]).contains { $0.name == option.name }
    }
}
