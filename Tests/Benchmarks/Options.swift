/// An error in a command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ text: String) {
        description = text + "\n" + Options.usage
    }
}

/// The command line.
struct Options {
    enum Mode {
        case help, list
        case measure([Group])
        case once(Row, Int)
    }

    let mode: Mode
    private(set) var rounds = 30

    static let usage = """
        usage: Benchmarks [GROUP …] [--filter TEXT] [--rounds N]
               Benchmarks --list
               Benchmarks --once ROW N

        Measures the rows of each group in turn, so many rounds, and prints the median time of each and its ratio to
        others, by the round, with the quartiles. Nothing is judged.
          --filter TEXT   only rows with TEXT in their name, and what they are compared to
          --rounds N      30 if not told
          --list          the groups and their rows
          --once ROW N    does a row's operation N times and no more: for strace and callgrind
        """

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        var groups: [Group] = []
        var text: String?
        var mode: Mode?
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": mode = .help
            case "--list": mode = .list
            case "--rounds": rounds = try Self.number(after: word, &rest)
            case "--filter": text = try Self.value(after: word, &rest)
            case "--once":
                let row = try Self.row(Self.value(after: word, &rest))
                mode = .once(row, try Self.number(after: word, &rest))
            default: groups.append(try Self.group(word))
            }
        }
        groups = (groups.isEmpty ? Group.all : groups).map { $0.rows(containing: text ?? "") }
        groups.removeAll { $0.rows.isEmpty && $0.figures.isEmpty }
        guard !groups.isEmpty else {
            throw UsageError("no row has \"\(text ?? "")\" in its name; --list tells them")
        }
        self.mode = mode ?? .measure(groups)
    }

    private static func value(after option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
        return value
    }

    private static func number(after option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Int {
        let text = try value(after: option, &rest)
        guard let number = Int(text), number > 0 else {
            throw UsageError("\(option) needs a number above 0, and not \"\(text)\"")
        }
        return number
    }

    private static func group(_ name: String) throws(UsageError) -> Group {
        guard let group = Group.all.first(where: { $0.name == name }) else {
            let kind = name.hasPrefix("-") ? "option" : "group"
            throw UsageError(
                "unknown \(kind) \"\(name)\"; the groups are \(Group.all.map(\.name).joined(separator: ", "))")
        }
        return group
    }

    private static func row(_ name: String) throws(UsageError) -> Row {
        guard let row = Group.all.flatMap(\.rows).first(where: { $0.name == name }) else {
            throw UsageError("unknown row \"\(name)\"; --list tells them")
        }
        return row
    }
}
