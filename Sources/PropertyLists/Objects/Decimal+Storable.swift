import Foundation

/// Its digits as a string, because a real number would lose some. Reads a number, by its shortest digits, and the dictionary of
/// `PropertyListEncoder`, too.
extension Decimal: StorableScalar {
    package static var schema: ValueSchema { ValueSchema(types: ["string", "number", "object"]) }

    package var storable: Any { description }

    package init?(storable: Any) {
        let value: Decimal? =
            switch CanonicalNumber(object: storable) {
            case .integer(let value): Self.value(of: "\(value)")
            case .unsigned(let value): Self.value(of: "\(value)")
            case .double(let bits): Self.value(of: "\(Double(bitPattern: bits))")
            case .bool: nil
            case nil:
                (storable as? String).map(Self.value(of:)) ?? (storable as? [String: Any]).flatMap(Self.value(ofParts:))
            }
        guard let value else { return nil }
        self = value
    }

    private static func value(of text: String) -> Decimal? {
        if text == "NaN" || text == "nan" { return .nan }
        // Foundation reads a prefix of digits, and drops digits that do not fit.
        guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil,
            let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
            significantDigits(of: text) == significantDigits(of: value.description)
        else { return nil }
        return value
    }

    private static func significantDigits(of text: String) -> ArraySlice<UInt8> {
        let zero = UInt8(ascii: "0")
        let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { $0 >= zero }
        guard let last = digits.lastIndex(where: { $0 != zero }) else { return [] }
        return digits[...last].drop { $0 == zero }
    }

    /// - Parameter parts: as `Decimal` encodes itself: the mantissa is eight words of 16 bits, lowest first, of which `length` count.
    private static func value(ofParts parts: [String: Any]) -> Decimal? {
        guard Set(parts.keys) == ["exponent", "length", "isNegative", "isCompact", "mantissa"],
            let exponent: Int8 = parts["exponent"].flatMap(NumberConversion.integer),
            let length: UInt8 = parts["length"].flatMap(NumberConversion.integer), length <= 8,
            let isNegative = parts["isNegative"].flatMap(NumberConversion.bool),
            parts["isCompact"].flatMap(NumberConversion.bool) != nil,
            let stored = parts["mantissa"] as? [Any], stored.count == 8
        else { return nil }
        var words: [UInt16] = stored.compactMap(NumberConversion.integer)
        guard words.count == 8 else { return nil }
        for index in Int(length)..<8 { words[index] = 0 }
        if length == 0 { return isNegative ? .nan : 0 }
        // The parts of a value that Foundation has not made may have leading and trailing zeros.
        guard let highest = words.lastIndex(where: { $0 != 0 }) else { return 0 }
        let exact: [String: Any] = [
            "exponent": exponent.storable, "length": UInt8(highest + 1).storable, "isNegative": isNegative,
            "isCompact": false,
            "mantissa": words.map(\.storable),
        ]
        guard var value = try? Decimal(from: PropertyListObjectDecoder.decoder(of: exact)) else { return nil }
        NSDecimalCompact(&value)
        return value
    }
}
