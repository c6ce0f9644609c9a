import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// `read`, `write` and `delete` with the arguments of `defaults(1)`, for scripts that use it: DOMAIN, and KEY of an
/// entry at the top.
enum DefaultsCommand {
    static let names = Set(specs.map(\.name))

    static let specs: [CommandSpec] = [
        CommandSpec(
            "read", "[DOMAIN [KEY]]", "print a domain or one entry, as `defaults read` does",
            details: """
                Without DOMAIN, prints all UserDefaults domains. A Boolean is 1 or 0. Arrays and dictionaries are JSON that
                `prefs import` accepts. For a path into a value, use `get -f`.
                """,
            example: "read persistentpreferences.harness PrefsTestSet", run: read),
        CommandSpec(
            "write", "DOMAIN KEY [-TYPE] [VALUE …]", "store an entry, as `defaults write` does",
            details: """
                VALUE is a string unless a type precedes it:
                  -string TEXT   -int N   -float N   -bool yes|no   -date ISO-8601   -data HEX
                  -array VALUE …   -dict KEY VALUE …; a type may precede each VALUE
                  -array-add VALUE …   -dict-add KEY VALUE …   add to the existing value
                Without a type, {a=1;}, (a,b), <48656c6c6f> and XML elements are property lists.
                """,
            example: "write settings.plist fontSize -float 12.5", options: OptionSpec.writing, run: write),
        CommandSpec(
            "delete", "DOMAIN [KEY]", "remove an entry, or all of a domain, as `defaults delete` does",
            example: "delete settings.plist fontSize", options: OptionSpec.writing, run: delete),
    ]

    // MARK: - Commands

    @Sendable private static func read(_ invocation: Invocation) throws -> Outcome {
        let wantsJSON = invocation.wantsJSON
        guard let word = try domain(invocation) else {
            let (domains, failures) = try Domains(invocation).entries()
            return Outcome(output: try ExportFormat.json(of: .dictionary(domains)), as: .json)
                .reporting(failures, asJSON: wantsJSON)
        }
        let (values, failure) = try Place(entriesOf: Target(word), in: invocation.program).existing()
        let value = try invocation.operands[safe: 1].map { try existing($0, in: values) } ?? .dictionary(values)
        let outcome =
            switch value {
            case .string where !wantsJSON, .date where !wantsJSON:
                Outcome(output: ValueText.line(value) + "\n", as: .value)
            case .data(let data) where !wantsJSON: Outcome(output: data.hexadecimal + "\n")
            case .bool(let isTrue) where !wantsJSON: Outcome(output: isTrue ? "1\n" : "0\n")
            default: Outcome(output: try ExportFormat.json(of: value), as: .json)
            }
        return outcome.reporting(failure, asJSON: wantsJSON)
    }

    @Sendable private static func write(_ invocation: Invocation) throws -> Outcome {
        let words = invocation.operands
        guard let word = try domain(invocation), words.count > 2 else {
            throw UsageError("too few arguments for `write`: write DOMAIN KEY [-TYPE] VALUE …")
        }
        let (key, isTyped) = (words[1], types.contains(words[2]))
        let values = Array(words.dropFirst(isTyped ? 3 : 2))
        if !isTyped, words[2].wholeMatch(of: /-[A-Za-z].*/) != nil {
            let near = Suggestion.text(words[2], among: types.sorted())
            throw UsageError(
                "unknown type `\(ShownText.key(words[2]))`\(near) (-string stores a text that begins with -)")
        }
        guard isTyped || values.count == 1 else {
            throw UsageError("too many arguments for `write`; quote a value that contains spaces")
        }
        let new = isTyped ? try value(words[2], values) : try PropertyListText.value(of: values[0])
        return try Place(entriesOf: Target(word), in: invocation.program).change(invocation) { entries, _ in
            let old = entries[key]
            guard isTyped, words[2].hasSuffix("-add"), let old else { return entries[key] = new }
            switch (old, new) {
            case (.array(let old), .array(let new)): entries[key] = .array(old + new)
            case (.dictionary(let old), .dictionary(let new)): entries[key] = .dictionary(old.merging(new) { $1 })
            default:
                throw CommandError(
                    "cannot add to `\(ShownText.key(key))`: expected type \(ValueText.typeName(new)), found type \(ValueText.typeName(old))"
                )
            }
        }
    }

    @Sendable private static func delete(_ invocation: Invocation) throws -> Outcome {
        guard let word = try domain(invocation) else { return Outcome() }
        let place = try Place(entriesOf: Target(word), in: invocation.program)
        _ = try place.existing()
        return try place.change(invocation) { entries, risks in
            guard let key = invocation.operands[safe: 1] else {
                if !entries.isEmpty { risks.add("all entries of the \(place.name) would be removed") }
                return entries = [:]
            }
            let old = try existing(key, in: entries)
            if old.isContainer { risks.add("the \(ValueText.typeName(old)) `\(ShownText.key(key))` would be removed") }
            entries[key] = nil
        }
    }

    private static func existing(_ key: String, in values: [String: StoredValue]) throws(CommandError) -> StoredValue {
        if let value = values[key] { return value }
        throw CommandError("`\(ShownText.key(key))` is not set", near: key, among: values)
    }

    /// The first word, unless it is an option of `defaults(1)` that has no meaning here.
    private static func domain(_ invocation: Invocation) throws(UsageError) -> String? {
        let word = invocation.operands.first
        switch word {
        case "-g", "-globalDomain":
            throw UsageError("there is no global domain here; give a domain or the path of a file")
        case "-app": throw UsageError("-app is not supported; give the identifier of the app as DOMAIN")
        case "-currentHost", "-host":
            throw UsageError("there are no preferences of a host here; give the path of their file")
        default: return word
        }
    }

    // MARK: - Values

    /// The option words for the type of one value.
    private static let scalarTypes: [String: PropertyListType] = [
        "-string": .string, "-int": .integer, "-integer": .integer, "-float": .float, "-bool": .boolean,
        "-boolean": .boolean, "-date": .date, "-data": .data,
    ]
    private static let types = Set(scalarTypes.keys).union(["-array", "-array-add", "-dict", "-dict-add"])

    private static func value(_ type: String, _ words: [String]) throws(UsageError) -> StoredValue {
        var rest = words[...]
        switch type {
        case "-array", "-array-add":
            var values: [StoredValue] = []
            while let value = try element(&rest) { values.append(value) }
            return .array(values)
        case "-dict", "-dict-add":
            var values: [String: StoredValue] = [:]
            while let key = rest.popFirst() {
                guard let value = try element(&rest) else {
                    throw UsageError("expected a value after the key \"\(ShownText.key(key))\"")
                }
                guard values.updateValue(value, forKey: key) == nil else {
                    throw UsageError("the key \"\(ShownText.key(key))\" is given twice")
                }
            }
            return .dictionary(values)
        default:
            guard words.count == 1 else { throw UsageError("\(type): expected one value, found \(words.count)") }
            return try scalar(type, words[0])
        }
    }

    /// The next value of an array or a dictionary, with its type; nil at the end.
    private static func element(_ words: inout ArraySlice<String>) throws(UsageError) -> StoredValue? {
        guard let word = words.popFirst() else { return nil }
        guard types.contains(word) else { return try PropertyListText.value(of: word) }
        guard scalarTypes[word] != nil else {
            throw UsageError("\(word) cannot be inside of another array or dictionary; write (a,b) or {a=1;} instead")
        }
        guard let text = words.popFirst() else { throw UsageError("\(word): expected one value, found 0") }
        return try scalar(word, text)
    }

    private static func scalar(_ type: String, _ text: String) throws(UsageError) -> StoredValue {
        switch (scalarTypes[type] ?? .string, text) {
        case (.data, _):
            guard let data = Data(hexadecimal: text) else {
                throw UsageError(
                    "expected an even number of hexadecimal digits such as 48656c6c6f, found \"\(ShownText.key(text))\""
                )
            }
            return .data(data)
        case (let type, _): return try type.value(of: text)
        }
    }
}

extension Data {
    fileprivate init?(hexadecimal text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
