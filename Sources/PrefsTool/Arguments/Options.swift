import PersistentPreferences

/// The options and operands of a command line.
struct Options {
    private(set) var operands: [String] = []
    private(set) var optionNames: [String] = []
    private var values: [String: [String]] = [:]
    /// The descriptor of the standard input.
    let input: Int32

    /// Options may appear anywhere. A value follows its option as the next argument or after `=`. Arguments after `--` are operands,
    /// and so are `-`, negative numbers, and the types of `write` with their values.
    init(_ arguments: [String], of program: Program) throws(UsageError) {
        input = program.context.input
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            // Compares bytes and scalars, because a combining mark may follow a dash or a `=`.
            guard Self.hasDashes(word) || isShortOption(word) else {
                try checkDash(word)
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

    /// True for `-h` and `-o`. The text of a type of `write` is no option.
    private func isShortOption(_ word: String) -> Bool {
        word == "-h" || word == OptionSpec.output.name && operands.first != "write"
    }

    /// Rejects a mistyped type or option before it is taken for a key.
    private func checkDash(_ word: String) throws(UsageError) {
        let bytes = word.utf8
        guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else { return }
        let second = bytes.dropFirst().first ?? 0
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second) || second == UInt8(ascii: ".") { return }
        if operands.first == "write" {
            if ParsedValue.types.contains(word) { return }
            // The value of a type.
            if let type = operands.last, ParsedValue.scalarTypes.contains(type) { return }
        }
        let alternative =
            switch word {
            case "-g", "-globalDomain": "there is no global domain here; give a domain or the path of a file"
            case "-currentHost", "-host":
                "there are no preferences of a host here; give the path of their file as DOMAIN"
            case "-app": "give the identifier of the app as DOMAIN"
            default:
                "unknown word"
                    + Suggestion.text(word, among: operands.first == "write" ? ParsedValue.types : ["-h"])
            }
        throw UsageError(
            "`\(ShownText.key(word))`: \(alternative) (put a value that begins with - after a separate --)")
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

    /// The value of an option in seconds; nil if it is not given.
    func seconds(_ option: OptionSpec) throws(UsageError) -> Double? {
        guard let text = self[option] else { return nil }
        guard let seconds = Double(text), (0...86_400).contains(seconds) else {
            throw UsageError("\(option.name): expected seconds from 0 to 86400, found \"\(ShownText.key(text))\"")
        }
        return seconds
    }

    /// The value of an option as an integer from 1 to `maximum`.
    func number(_ option: OptionSpec, default defaultValue: Int, maximum: Int) throws(UsageError) -> Int {
        guard let text = self[option] else { return defaultValue }
        guard let number = Int(text), (1...maximum).contains(number) else {
            throw UsageError("\(option.name): expected a number from 1 to \(maximum), found \"\(ShownText.key(text))\"")
        }
        return number
    }
}
