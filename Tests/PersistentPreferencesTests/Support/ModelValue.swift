import Foundation

/// A text that is compared by its bytes, because Swift considers two spellings of a letter equal.
struct ModelText: Hashable, Comparable, CustomStringConvertible {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// Whether XML has a form that every reader reads as an equal text.
    var isInXML: Bool {
        !hasMark
            && text.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && $0.value != 0xFFFE && $0.value != 0xFFFF || ["\t", "\n", "\r"].contains($0)
            }
    }

    /// Whether Foundation interprets the beginning as a byte order mark.
    var hasMark: Bool { text.unicodeScalars.first == "\u{FEFF}" }

    var description: String {
        "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
    }
}

/// A property list as the model sees it, with its own equality: 1, 1.0 and true are three values, −0.0 is not 0.0.
indirect enum ModelValue: Equatable {
    case text(ModelText)
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(bits: UInt64)
    /// Seconds from the reference date.
    case date(TimeInterval)
    case data([UInt8])
    case list([ModelValue])
    case dictionary([ModelText: ModelValue])

    static func real(_ value: Double) -> Self {
        .real(bits: (value.isNaN ? Double.nan : value).bitPattern)
    }

    var entries: [ModelText: ModelValue]? {
        if case .dictionary(let entries) = self { entries } else { nil }
    }

    private static let secondsInXML = -63_113_904_000.0..<252_423_993_600

    /// Whether a write to an XML file may contain the value: XML has a form that every reader reads as an equal value,
    /// or the file has the value already.
    ///
    /// - Parameter former: the value in the file.
    func isInXML(replacing former: ModelValue?) -> Bool {
        switch self {
        case _ where self == former: true
        case .text(let text): text.isInXML
        case .date(let seconds): Self.secondsInXML.contains(seconds)
        case .list(let elements):
            elements.enumerated().allSatisfy { index, element in
                let others = former?.elements ?? []
                return element.isInXML(replacing: index < others.count ? others[index] : nil)
            }
        case .dictionary(let entries):
            entries.allSatisfy { key, value in
                let other = former?.entries?[key]
                return (other != nil || key.isInXML) && value.isInXML(replacing: other)
            }
        default: true
        }
    }

    private var elements: [ModelValue]? {
        if case .list(let elements) = self { elements } else { nil }
    }

    /// Whether Foundation interprets the beginning of a text in it as a byte order mark.
    var hasMark: Bool {
        switch self {
        case .text(let text): text.hasMark
        case .list(let elements): elements.contains(where: \.hasMark)
        case .dictionary(let entries): entries.contains { $0.key.hasMark || $0.value.hasMark }
        default: false
        }
    }

    /// The value in an XML file, which holds dates to the second.
    var withWholeSeconds: Self {
        switch self {
        case .date(let seconds): .date(seconds.rounded(.down))
        case .list(let elements): .list(elements.map(\.withWholeSeconds))
        case .dictionary(let entries): .dictionary(entries.mapValues(\.withWholeSeconds))
        default: self
        }
    }
}

// MARK: - From and to objects

extension ModelValue {
    struct NotCanonical: Error, CustomStringConvertible {
        let description: String
    }

    /// Creates a value from a property list of Foundation or the library. With `isStrict` it must be in canonical form:
    /// exactly these types, no `Optional`, Booleans as Bool.
    init(_ value: Any, isStrict: Bool) throws {
        switch type(of: value) {
        case is String.Type: self = .text(ModelText(value as? String ?? ""))
        case is Bool.Type: self = .bool(value as? Bool ?? false)
        case is Data.Type: self = .data([UInt8](value as? Data ?? Data()))
        case is Date.Type: self = .date((value as? Date ?? .distantPast).timeIntervalSinceReferenceDate)
        case is [Any].Type:
            self = .list(try (value as? [Any] ?? []).map { try ModelValue($0, isStrict: isStrict) })
        case is [String: Any].Type:
            self = .dictionary(try Self.entries(value as? [String: Any] ?? [:], isStrict: isStrict))
        default:
            if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
                self = try Self.number(number, isStrict: isStrict)
            } else if !isStrict, let list = value as? [Any] {
                self = .list(try list.map { try ModelValue($0, isStrict: false) })
            } else if !isStrict, let dictionary = value as? [String: Any] {
                self = .dictionary(try Self.entries(dictionary, isStrict: false))
            } else {
                throw NotCanonical(description: "a \(type(of: value)) is not canonical")
            }
        }
    }

    static func entries(_ dictionary: [String: Any], isStrict: Bool) throws -> [ModelText: ModelValue] {
        var entries: [ModelText: ModelValue] = [:]
        for (key, value) in dictionary { entries[ModelText(key)] = try ModelValue(value, isStrict: isStrict) }
        return entries
    }

    private static func number(_ number: NSNumber, isStrict: Bool) throws -> Self {
        switch String(cString: number.objCType) {
        case "d", "f": return .real(number.doubleValue)
        case "Q", "L":
            let value = number.uint64Value
            return Int64(exactly: value).map(Self.integer) ?? .unsigned(value)
        default:
            guard type(of: number) == type(of: NSNumber(value: true)) else { return .integer(number.int64Value) }
            if isStrict { throw NotCanonical(description: "a Boolean as NSNumber is not canonical") }
            return .bool(number.boolValue)
        }
    }

    /// The value in Swift's types, with native numbers.
    var object: Any {
        switch self {
        case .text(let text): text.text
        case .bool(let value): value
        case .integer(let value): Int(value)
        case .unsigned(let value): value
        case .real(let bits): Double(bitPattern: bits)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): Data(bytes)
        case .list(let elements): elements.map(\.object)
        case .dictionary(let entries): Self.object(entries)
        }
    }

    static func object(_ entries: [ModelText: ModelValue]) -> [String: Any] {
        var object: [String: Any] = [:]
        for (key, value) in entries { object[key.text] = value.object }
        return object
    }
}

extension ModelValue: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): "\(text)"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value) as UInt64"
        case .real(let bits): "\(Double(bitPattern: bits)) as Double"
        case .date(let seconds): "Date(\(seconds))"
        case .data(let bytes): "Data(\(bytes))"
        case .list(let elements): "[\(elements.map(\.description).joined(separator: ", "))]"
        case .dictionary(let entries): Self.description(of: entries)
        }
    }

    static func description(of entries: [ModelText: ModelValue]) -> String {
        let pairs = entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "[\(pairs.isEmpty ? ":" : pairs.joined(separator: ", "))]"
    }
}
