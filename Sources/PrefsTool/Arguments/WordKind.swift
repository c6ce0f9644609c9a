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
