import Foundation

/// Stores the digits as a string, because a real number would lose some. Also reads a number, by its shortest digits,
/// and the dictionary of `PropertyListEncoder`.
extension Decimal: StorableScalar {
    package var storable: StoredValue { .string(description) }

    package init?(storable: StoredValue) {
        let value: Decimal? =
            switch storable {
            case .integer(let value): Self.value(of: "\(value)")
            case .unsigned(let value): Self.value(of: "\(value)")
            case .real(let value): Self.value(of: "\(value)")
            case .string(let text), .decimal(let text): Self.value(of: text)
            case .dictionary(let parts): Self.value(ofParts: parts)
            default: nil
            }
        guard let value else { return nil }
        self = value
    }

    private static func value(of text: String) -> Decimal? {
        if text == "NaN" || text == "nan" { return .nan }
        // Foundation reads a prefix of digits, and drops digits that do not fit.
        guard NumberText.isNumber(text),
            let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
            NumberText.significantDigits(of: text) == NumberText.significantDigits(of: value.description)
        else { return nil }
        return value
    }

    /// - Parameter parts: the parts that `Decimal` encodes. The mantissa is eight words of 16 bits, lowest first, of
    ///   which `length` count.
    private static func value(ofParts parts: [String: StoredValue]) -> Decimal? {
        guard Set(parts.keys) == ["exponent", "length", "isNegative", "isCompact", "mantissa"],
            let exponent = parts["exponent"]?.integer(as: Int8.self),
            let length = parts["length"]?.integer(as: UInt8.self), length <= 8,
            let isNegative = parts["isNegative"]?.boolean, parts["isCompact"]?.boolean != nil,
            let stored = parts["mantissa"]?.array, stored.count == 8
        else { return nil }
        var words = stored.compactMap { $0.integer(as: UInt16.self) }
        guard words.count == 8 else { return nil }
        for index in Int(length)..<8 { words[index] = 0 }
        if length == 0 { return isNegative ? .nan : 0 }
        // Parts that Foundation has not made may have leading and trailing zeros.
        guard let highest = words.lastIndex(where: { $0 != 0 }) else { return 0 }
        let exact: [String: StoredValue] = [
            "exponent": exponent.storable, "length": UInt8(highest + 1).storable, "isNegative": .bool(isNegative),
            "isCompact": .bool(false), "mantissa": .array(words.map(\.storable)),
        ]
        guard var value = try? Decimal(from: StoredValueDecoder.decoder(of: .dictionary(exact))) else { return nil }
        NSDecimalCompact(&value)
        return value
    }
}
