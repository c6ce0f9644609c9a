/// Stores ISO 8601 text, such as `PT1M30S`, with every digit of the fraction. Also reads `90s`, `1h 30m`, a number of
/// seconds, and the two integers of Foundation's encoders.
extension Duration: StorableScalar {
    /// The stored form. A duration beyond the limit is stored as seconds and cannot be read back, because the
    /// arithmetic of its text would stop the program.
    package var storable: StoredValue {
        let seconds = self / .seconds(1)
        return abs(seconds) < DurationText.limit ? .string(isoText) : .real(seconds)
    }

    package init?(storable: StoredValue) {
        let value: Duration? =
            switch storable {
            case .string(let text): DurationText(text)?.value
            case .integer(let seconds): .seconds(seconds)
            case .real(let seconds) where seconds.magnitude < DurationText.limit: .seconds(seconds)
            case .array: try? Duration(from: StoredValueDecoder.decoder(of: storable))
            default: nil
            }
        guard let value, abs(value / .seconds(1)) < DurationText.limit else { return nil }
        self = value
    }

    private var isoText: String {
        let length = self < .zero ? .zero - self : self
        let hours = (length / 3_600).components.seconds
        let (rest, fraction) = (length - .seconds(3_600) * hours).components
        let (minutes, seconds) = rest.quotientAndRemainder(dividingBy: 60)
        var digits = String(fraction)
        digits = String(repeating: "0", count: DurationText.digits - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        var text = self < .zero ? "-PT" : "PT"
        if hours > 0 { text += "\(hours)H" }
        if minutes > 0 { text += "\(minutes)M" }
        if seconds > 0 || !digits.isEmpty || length == .zero {
            text += "\(seconds)" + (digits.isEmpty ? "S" : ".\(digits)S")
        }
        return text
    }
}

/// A duration as people write it: `PT1M30.5S`, `-P1DT2H`, `90s`, `1h 30m`, `500ms`.
private struct DurationText {
    private(set) var value = Duration.zero
    private var rest: Substring
    private let isISO: Bool

    /// The most seconds in each direction. Beyond that, the arithmetic would stop the program.
    static let limit = 1.7e20
    /// The decimals of a second. The last one is an attosecond.
    static let digits = 18

    /// The units, the largest first.
    private static let units: [(names: [Substring], isoName: Substring?, length: Duration)] = [
        (["d"], "d", .seconds(86_400)), (["h"], "h", .seconds(3_600)), (["m", "min"], "m", .seconds(60)),
        (["s"], "s", .seconds(1)), (["ms"], nil, .milliseconds(1)), (["us", "µs", "μs"], nil, .microseconds(1)),
        (["ns"], nil, .nanoseconds(1)),
    ]

    /// Parses a text; nil if it has another form, or if the duration is out of range.
    init?(_ text: String) {
        rest = text.lowercased()[...]
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        isISO = rest.first == "p"
        if isISO { rest.removeFirst() }
        guard readParts() else { return nil }
        if isNegative { value = .zero - value }
    }

    private mutating func readParts() -> Bool {
        // In ISO 8601, a T stands between days and the rest.
        var isTime = false
        var next = 0
        while !rest.isEmpty {
            if isISO, !isTime, rest.first == "t" {
                isTime = true
                rest.removeFirst()
                if rest.isEmpty { return false }
            }
            guard let unit = readPart(from: next), !isISO || isTime == (unit > 0) else { return false }
            next = unit + 1
            if !isISO { rest = rest.drop { $0 == " " } }
        }
        return next > 0
    }

    /// - Returns: the index of the part's unit, which is smaller than the units before it.
    private mutating func readPart(from first: Int) -> Int? {
        let whole = readDigits()
        var decimals: Substring = ""
        if rest.first == "." {
            rest.removeFirst()
            decimals = readDigits()
            if decimals.isEmpty { return nil }
        }
        if !isISO { rest = rest.drop { $0 == " " } }
        let name = isISO ? rest.prefix(1) : rest.prefix { $0.isLetter }
        rest = rest.dropFirst(name.count)
        let index = Self.units.firstIndex { isISO ? $0.isoName == name : $0.names.contains(name) }
        guard let index, index >= first, let number = Int64(whole) else { return nil }
        let length = Self.units[index].length
        // More decimals of a larger unit would overflow.
        guard decimals.count <= (length > .seconds(1) ? 9 : Self.digits),
            Double(number) * (length / .seconds(1)) + value / .seconds(1) < Self.limit
        else { return nil }
        value += length * number
        if let parts = Int64(decimals) {
            value += length * parts / decimals.reduce(Int64(1)) { power, _ in power * 10 }
        }
        return index
    }

    private mutating func readDigits() -> Substring {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}
