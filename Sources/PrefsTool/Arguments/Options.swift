import PersistentPreferences
import PrefsPropertyLists

/// The options and operands of a command line.
package struct Options {
    private(set) var operands: [String] = []
    private(set) var names: [String] = []
    private var values: [String: [String]] = [:]

    private static let shortNames = ["-f", "-h", "-o", "-t"]

    /// Options may appear anywhere. A value follows its option as the next argument or after `=`. Arguments after `--`
    /// are operands, and so are `-` and negative numbers.
    init(_ arguments: [String], of program: Program) throws(UsageError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            // Compares bytes and scalars, because a combining mark may follow a dash or a `=`.
            guard Self.hasDashes(word) || Self.shortNames.contains(word) else {
                try Self.checkDash(word, program)
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
            if names.contains(name), spec.valueName != nil, !spec.isRepeatable {
                throw UsageError("\(name) is given twice; give it once")
            }
            names.append(name)
            if let kind = spec.valueName {
                let value = try Self.value(of: name, kind, inline: parts.count > 1 ? parts[1] : nil, &rest)
                values[name, default: []].append(value)
            } else if parts.count > 1 {
                throw UsageError("\(name) takes no value")
            }
        }
    }

    /// Rejects a mistyped option before it is taken for a key.
    private static func checkDash(_ word: String, _ program: Program) throws(UsageError) {
        let bytes = Array(word.utf8)
        guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else { return }
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[1]) || bytes[1] == UInt8(ascii: ".") { return }
        // A single letter resembles every other letter, so only its case is corrected.
        let known = bytes.count == 2 ? shortNames.filter { $0 == word.lowercased() } : program.options.map(\.name)
        throw UsageError(
            "unknown option `\(ShownText.key(word))`\(Suggestion.textOrHelp(word, among: known)) "
                + "(put a value that begins with - after a separate --)")
    }

    private static func hasDashes(_ word: String) -> Bool { word.utf8.starts(with: "--".utf8) }

    private static func value(
        of option: String, _ kind: String, inline: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        if let inline { return inline }
        // If an option follows, the value was forgotten.
        guard let value = rest.popFirst(), !hasDashes(value), !shortNames.contains(value) else {
            throw UsageError("\(option) needs a value: \(option) \(kind)")
        }
        return value
    }

    package func has(_ option: OptionSpec) -> Bool { names.contains(option.name) }

    package subscript(option: OptionSpec) -> String? { all(option).first }

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
    package func number(_ option: OptionSpec, default defaultValue: Int, maximum: Int) throws(UsageError) -> Int {
        guard let text = self[option] else { return defaultValue }
        guard let number = Int(text), (1...maximum).contains(number) else {
            throw UsageError("\(option.name): expected a number from 1 to \(maximum), found \"\(ShownText.key(text))\"")
        }
        return number
    }
}
