import Foundation
import PersistentPreferences

/// The value of a `write` command, with its type.
struct ParsedValue {
    let value: StoredValue
    /// True if the elements are added to an existing array or dictionary.
    let isAppended: Bool
    /// What the user has typed as the value; nil with a type.
    let text: String?

    static let help = """
        VALUE is a string unless a type precedes it, or a value of another type exists that it can be read as:
          -string TEXT   -int N   -float N   -bool yes|no   -date ISO-8601   -data HEX
          -array VALUE …   -dict KEY VALUE …; a type may precede each VALUE
          -array-add VALUE …   -dict-add KEY VALUE …   add to the existing value
          -json JSON     any value, in the format of `prefs export`
        Without a type, {a=1;}, (a,b), <48656c6c6f> and XML elements are property lists. `-` is standard input.
        KEY may lead into a value: `window.size[0]`. In the name of a new key, `\\.` and `\\[` stand for the dot and the bracket.
        Without KEY, stores the top-level entry ROOT, of any type.
        """

    /// The words of `DOMAIN ROOT [KEY] [-TYPE] VALUE …`.
    ///
    /// - Parameters:
    ///   - file: the file that the value is read from; nil if the words contain it.
    ///   - input: the descriptor of the standard input.
    static func command(
        _ words: [String], file: String?, expected: String?, input: Int32
    ) throws(UsageError) -> Invocation.Command {
        let synopsis = "write DOMAIN ROOT [KEY] [-TYPE] VALUE …"
        let type = words.dropFirst(2).prefix(2).firstIndex { types.contains($0) }
        // Without a type, the last word is the value.
        let end = type ?? (file == nil ? words.count - 1 : words.count)
        guard (2...3).contains(end) else {
            let problem = words.count < 3 ? "too few arguments" : "too many arguments"
            throw UsageError("\(problem) for `write`: \(synopsis) (quote a value that contains spaces)")
        }
        var values = Array(words[(type.map { $0 + 1 } ?? end)...])
        if let file {
            guard values.isEmpty else { throw UsageError("--from takes the place of VALUE; give one of them") }
            values = [try Assignments.contents(file, input: input)]
        } else if values == ["-"], type.map({ scalarTypes.contains(words[$0]) }) ?? true {
            values = [try Assignments.contents(nil, input: input)]
        }
        let value =
            if let type {
                try Self(words[type], values)
            } else {
                Self(value: try PropertyListText.value(of: values[0]), text: values[0])
            }
        return .write(
            Target(domain: words[0]), DomainPlace(root: words[1], key: end == 3 ? words[2] : nil), value,
            expected: expected)
    }

    /// The types of one value.
    static let scalarTypes = ["-string", "-int", "-integer", "-float", "-bool", "-boolean", "-date", "-data", "-json"]
    static let types = scalarTypes + ["-array", "-array-add", "-dict", "-dict-add"]

    private init(value: StoredValue, text: String) {
        (self.value, self.text) = (value, text)
        isAppended = false
    }

    /// The value of the same type as another one that a text can be read as.
    static func value(of text: String, like other: StoredValue) -> StoredValue? {
        let (name, word) = (ValueText.typeName(other), "-" + ValueText.typeName(other))
        let value = try? scalar(scalarTypes.contains(word) ? word : "-json", text)
        return value.flatMap { ValueText.typeName($0) == name ? $0 : nil }
    }

    private init(_ type: String, _ words: [String]) throws(UsageError) {
        text = nil
        isAppended = type.hasSuffix("-add")
        var rest = words[...]
        switch type {
        case "-array", "-array-add":
            var values: [StoredValue] = []
            while let value = try Self.element(&rest) { values.append(value) }
            value = .array(values)
        case "-dict", "-dict-add":
            value = .dictionary(try Self.dictionary(rest))
        default:
            guard words.count == 1 else {
                throw UsageError("\(type): expected one value, found \(words.count)")
            }
            value = try Self.scalar(type, words[0])
        }
    }

    /// The next value of an array or a dictionary, with its type; nil if there is none.
    private static func element(_ words: inout ArraySlice<String>) throws(UsageError) -> StoredValue? {
        guard let word = words.popFirst() else { return nil }
        guard types.contains(word) else { return try PropertyListText.value(of: word) }
        guard scalarTypes.contains(word) else {
            throw UsageError("\(word) cannot be inside of another array or dictionary; write (a,b) or {a=1;} instead")
        }
        guard let text = words.popFirst() else { throw UsageError("\(word): expected one value, found 0") }
        return try scalar(word, text)
    }

    private static func scalar(_ type: String, _ text: String) throws(UsageError) -> StoredValue {
        func error(expected: String) -> UsageError {
            UsageError("expected \(expected), found \"\(ShownText.key(text))\"")
        }
        switch type {
        case "-string":
            return .string(text)
        case "-int", "-integer":
            if let number = Int64(text) { return .integer(number) }
            if let number = UInt64(text) { return .unsigned(number) }
            throw error(expected: "a 64-bit integer such as 42 or -7")
        case "-float":
            let isNamed = text.lowercased().contains("inf") || text.lowercased().contains("nan")
            guard let number = Double(text), number.isFinite || isNamed else {
                throw error(expected: "a number such as 12.5")
            }
            return StoredValue(number)
        case "-bool", "-boolean":
            switch text.lowercased() {
            case "true", "yes", "1": return .bool(true)
            case "false", "no", "0": return .bool(false)
            default: throw error(expected: "yes or no")
            }
        case "-date":
            return .date(try ValueText.parsedDate(text))
        case "-data":
            guard let data = Data(hexadecimal: text) else {
                throw error(expected: "an even number of hexadecimal digits such as 48656c6c6f")
            }
            return .data(data)
        default:
            do {
                return try ExportFormat.value(ofJSON: Data(text.utf8))
            } catch PrefsError.invalidImport(let reason) {
                throw UsageError("\(ShownText.key(text)): \(reason)")
            } catch {
                throw UsageError("\(error)")
            }
        }
    }

    private static func dictionary(_ words: ArraySlice<String>) throws(UsageError) -> [String: StoredValue] {
        var words = words
        var result: [String: StoredValue] = [:]
        while let key = words.popFirst() {
            guard let value = try element(&words) else {
                throw UsageError("the key \"\(ShownText.key(key))\" has no value")
            }
            guard result.updateValue(value, forKey: key) == nil else {
                throw UsageError("the key \"\(ShownText.key(key))\" is given twice")
            }
        }
        return result
    }
}

extension Data {
    /// Two hexadecimal digits per byte.
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    fileprivate init?(hexadecimal text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
