/// What a word of a command line stands for. The raw value is its name in the help.
enum WordKind: String {
    /// A key of the class; after a domain and a root, a key of that root.
    case key = "KEY"
    /// A value of the key before it.
    case value = "VALUE"
    /// A UserDefaults suite, or the path of a file.
    case domain = "DOMAIN"
    case suite = "SUITE"
    case root = "ROOT"
    case path = "PATH"
    case file = "FILE"
    case command = "COMMAND"
    case format = "FORMAT"
}

extension CommandSpec {
    /// The alternatives for the operand at an index, such as `["COMMAND", "KEY"]`; none if there is no such operand. A word in small
    /// letters stands for itself.
    func alternatives(at index: Int) -> [String] {
        let words = operands.filter { $0 != "[" && $0 != "]" }.split(separator: " ")
        let isRepeated = words.last == "…"
        let names = words.filter { $0 != "…" }
        guard index < names.count || isRepeated, let name = names[safe: index] ?? names.last else { return [] }
        return name.split(separator: "|").map(String.init)
    }
}
