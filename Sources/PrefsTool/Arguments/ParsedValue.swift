import Foundation
import PersistentPreferences

/// The value of a `write` command, with its type.
struct ParsedValue {
    let value: Any
    /// True if the elements are added to an existing array or dictionary.
    let isAppended: Bool

    static let help = """
        As in defaults(1), VALUE is a string unless a type precedes it:
          -string TEXT   -int N   -float N   -bool yes|no   -date ISO-8601   -data HEX
          -array TEXT …  -dict KEY TEXT …    -array-add, -dict-add: add to the existing value
          -json JSON     any value, in the format of `prefs export`
        Without KEY, stores the top-level entry ROOT of the domain, of any type.
        """

    /// Parses `DOMAIN ROOT [KEY] [-TYPE] VALUE …`.
    static func command(_ words: [String]) throws(UsageError) -> Invocation.Command {
        let synopsis = "write DOMAIN ROOT [KEY] [-TYPE] VALUE …"
        let type = words.dropFirst(2).prefix(2).firstIndex { types.contains($0) }
        // Without a type, the last word is the value.
        let end = type ?? words.count - 1
        guard (2...3).contains(end) else {
            let problem = words.count < 3 ? "too few arguments" : "too many arguments"
            throw UsageError("\(problem) for `write`: \(synopsis) (quote a value that contains spaces)")
        }
        let value =
            if let type {
                try Self(words[type], Array(words[(type + 1)...]))
            } else {
                Self(value: words[end], isAppended: false)
            }
        return .write(Target(domain: words[0]), root: words[1], key: end == 3 ? words[2] : nil, value)
    }

    private static let types = [
        "-string", "-int", "-integer", "-float", "-bool", "-boolean", "-date", "-data", "-array", "-array-add", "-dict",
        "-dict-add", "-json",
    ]

    private init(value: Any, isAppended: Bool) {
        self.value = value
        self.isAppended = isAppended
    }

    private init(_ type: String, _ words: [String]) throws(UsageError) {
        isAppended = type.hasSuffix("-add")
        switch type {
        case "-array", "-array-add":
            value = words
        case "-dict", "-dict-add":
            value = try Self.dictionary(words)
        default:
            guard words.count == 1 else {
                throw UsageError("\(type): expected one value, found \(words.count)")
            }
            value = try Self.scalar(type, words[0])
        }
    }

    private static func scalar(_ type: String, _ text: String) throws(UsageError) -> Any {
        func error(expected: String) -> UsageError {
            UsageError("expected \(expected), found \"\(ShownText.key(text))\"")
        }
        switch type {
        case "-string":
            return text
        case "-int", "-integer":
            if let number = Int(text) { return number }
            if let number = UInt64(text) { return number }
            throw error(expected: "a 64-bit integer such as 42 or -7")
        case "-float":
            let isNamed = text.lowercased().contains("inf") || text.lowercased().contains("nan")
            guard let number = Double(text), number.isFinite || isNamed else {
                throw error(expected: "a number such as 12.5")
            }
            return number
        case "-bool", "-boolean":
            switch text.lowercased() {
            case "true", "yes", "1": return true
            case "false", "no", "0": return false
            default: throw error(expected: "yes or no")
            }
        case "-date":
            return try ValueText.parsedDate(text)
        case "-data":
            guard let data = Data(hexadecimal: text) else {
                throw error(expected: "an even number of hexadecimal digits such as 48656c6c6f")
            }
            return data
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

    private static func dictionary(_ words: [String]) throws(UsageError) -> [String: Any] {
        guard words.count.isMultiple(of: 2) else {
            throw UsageError("the key \"\(ShownText.key(words[words.count - 1]))\" has no value")
        }
        var result: [String: Any] = [:]
        for index in stride(from: 0, to: words.count, by: 2) {
            guard result.updateValue(words[index + 1], forKey: words[index]) == nil else {
                throw UsageError("the key \"\(ShownText.key(words[index]))\" is given twice")
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
