import PersistentPreferences

/// The options and operands of a command line.
struct Options {
    private(set) var operands: [String] = []
    private(set) var optionNames: [String] = []
    private var values: [String: [String]] = [:]

    /// Options may appear anywhere. A value follows its option as the next argument or after `=`. Arguments after `--` are operands,
    /// and so are arguments that begin with a single dash, such as −5.
    init(_ arguments: [String], of program: Program) throws(UsageError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            // Compares bytes and scalars, because a combining mark may follow a dash or a `=`.
            guard Self.hasDashes(word) || word == "-h" else {
                operands.append(word)
                continue
            }
            let parts = word.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init)
            let name = word == "-h" ? OptionSpec.help.name : parts[0]
            guard let spec = program.options.first(where: { $0.name == name }) else {
                throw UsageError(
                    "unknown option `\(ShownText.key(name))`\(Suggestion.textOrHelp(name, among: program.options.map(\.name))) "
                        + "(put a value that begins with -- after a separate --)")
            }
            if optionNames.contains(name), spec.valueName != nil, !spec.isRepeatable {
                throw UsageError("\(name) is given twice; give it once")
            }
            optionNames.append(name)
            if let kind = spec.valueName {
                let value = try Self.value(of: name, kind, inline: parts.count > 1 ? parts[1] : nil, &rest)
                values[name, default: []].append(value)
            } else if parts.count > 1 {
                throw UsageError("\(name) takes no value")
            }
        }
    }

    private static func hasDashes(_ word: String) -> Bool { word.utf8.starts(with: "--".utf8) }

    private static func value(
        of option: String, _ kind: String, inline: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        if let inline { return inline }
        // If an option follows, the value was forgotten.
        guard let value = rest.popFirst(), !hasDashes(value) else {
            throw UsageError("\(option) needs a value: \(option) \(kind)")
        }
        return value
    }

    func has(_ option: OptionSpec) -> Bool { optionNames.contains(option.name) }

    subscript(option: OptionSpec) -> String? { all(option).first }

    /// The values of a repeatable option, in their order.
    func all(_ option: OptionSpec) -> [String] { values[option.name] ?? [] }

    /// The value of an option as an integer from 1 to `maximum`.
    func number(_ option: OptionSpec, default defaultValue: Int, maximum: Int) throws(UsageError) -> Int {
        guard let text = self[option] else { return defaultValue }
        guard let number = Int(text), (1...maximum).contains(number) else {
            throw UsageError("\(option.name): expected a number from 1 to \(maximum), found \"\(ShownText.key(text))\"")
        }
        return number
    }
}
