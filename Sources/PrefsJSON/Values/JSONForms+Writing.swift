import Foundation
package import PrefsPropertyLists

/// The forms in which a write replaces what a person has written.
extension JSONForms {
    /// The form of a scalar in the place of a raw value; nil for a new place. It may be a form that the type in this
    /// place does not read.
    func written(_ scalar: StoredValue, inPlaceOf raw: StoredValue?) -> StoredValue {
        let unescaped = hasOwnNull ? NilMarker.unescaped(scalar) : scalar
        return switch (scalar, raw) {
        case (NilMarker.value, _): .null
        case _ where isExact || unescaped != scalar: unescaped
        case (.date, .date?), (.data, .data?): scalar
        case (.date(let date), _): Self.written(date, inPlaceOf: raw)
        case (.data(let data), .array?): .array(data.map { StoredValue($0) })
        case (.data(let data), _): .string(data.base64EncodedString())
        case (.string, .string(let former)?): Self.duration(scalar, inPlaceOf: former).map(StoredValue.string) ?? scalar
        case (.string(let text), let former?) where former.isNumber:
            Self.seconds(scalar) ?? Self.decimal(text) ?? scalar
        case (.string(let text), nil), (.string(let text), .null?):
            Self.newDuration(text).map(StoredValue.string) ?? scalar
        case (.real(let number), .integer?):
            scalar.integer(as: Int64.self).map(StoredValue.integer) ?? Self.shortest(number)
        case (.real(let number), _): Self.shortest(number)
        default: scalar
        }
    }

    /// The number whose digits are the shortest for a Float: 0.3 for a Float of 0.3, whose value is 0.30000001192092896. A
    /// Float reads as the same number.
    private static func shortest(_ number: Double) -> StoredValue {
        let float = Float(number)
        return .real(Double(float) == number ? Double(float.description) ?? number : number)
    }

    /// The number of a Decimal, in place of a number; nil if the text is not what a Decimal stores.
    private static func decimal(_ text: String) -> StoredValue? {
        Decimal(storable: .string(text))?.description == text ? number(text) : nil
    }

    /// The value of a JSON number; nil for other texts.
    static func number(_ text: String) -> StoredValue? {
        let value = try? JSONReader.value(of: Data(text.utf8), limits: .file)
        return value.flatMap { $0.isNumber ? $0 : nil }
    }

    // MARK: - Dates

    /// A day if a day stood there, seconds if a number did, else a moment with the offset that stood there. Any other
    /// date is a moment in UTC.
    private static func written(_ date: Date, inPlaceOf raw: StoredValue?) -> StoredValue {
        let seconds = date.timeIntervalSinceReferenceDate
        if let raw, raw.isNumber {
            let whole = StoredValue.real(seconds).integer(as: Int64.self)
            if case .integer = raw, let whole { return .integer(whole) }
            return .real(seconds)
        }
        guard let text = JSONDate.text(of: seconds) else { return .date(date) }
        guard case .string(let former)? = raw else { return .string(text) }
        if former.utf8.count == JSONDate.lengthOfDay, JSONDate.date(String(text.prefix(former.count))) == date {
            return .string(String(text.prefix(former.count)))
        }
        guard let offset = JSONDate.offset(in: former),
            let moment = JSONDate.text(of: seconds + Double(offset.seconds))
        else { return .string(text) }
        let local = moment.dropLast() + offset.text
        return .string(JSONDate.date(String(local)) == date ? String(local) : text)
    }

    // MARK: - Durations

    /// The seconds of a duration, in place of a number; nil if the text is no duration.
    private static func seconds(_ stored: StoredValue) -> StoredValue? {
        guard let duration = Duration(storable: stored) else { return nil }
        let (seconds, fraction) = duration.components
        return fraction == 0 ? .integer(seconds) : .real(duration / .seconds(1))
    }

    /// The text of a duration where nothing stood; nil if the text is not what a Duration stores.
    private static func newDuration(_ text: String) -> String? {
        guard text.utf8.starts(with: "PT".utf8), let duration = Duration(storable: .string(text)),
            duration.storable == .string(text)
        else { return nil }
        return Self.text(of: duration, hasDays: false)
    }

    /// The units, the largest first, with all names that are read. A day is written only where one stood.
    private static let units: [(names: [String], length: Duration)] = [
        (["d"], .seconds(86_400)), (["h"], .seconds(3_600)), (["m", "min"], .seconds(60)), (["s"], .seconds(1)),
        (["ms"], .milliseconds(1)), (["us", "µs", "μs"], .microseconds(1)), (["ns"], .nanoseconds(1)),
    ]

    /// The duration in the one unit that stood there, or else in as many as it takes: `90s`, `1h 30m`. nil if something
    /// else stood there.
    private static func duration(_ stored: StoredValue, inPlaceOf former: String) -> String? {
        guard let first = former.utf8.first, JSONReader.digits.contains(first),
            Duration(storable: .string(former)) != nil, let duration = Duration(storable: stored), duration >= .zero
        else { return nil }
        let number = former.prefix { $0.isASCII && $0.isNumber }
        let unit = former.dropFirst(number.count)
        let name = unit.drop { $0 == " " }.lowercased()
        if let length = units.first(where: { $0.names.contains(name) })?.length {
            let count = Int64(exactly: (duration / length).rounded())
            if let count, length * count == duration { return "\(count)\(unit)" }
        }
        return text(of: duration, hasDays: former.lowercased().contains("d"))
    }

    /// The duration in as many units as it takes; nil for zero, and for a part of a nanosecond.
    private static func text(of duration: Duration, hasDays: Bool) -> String? {
        var rest = duration
        let parts = units.dropFirst(hasDays ? 0 : 1).compactMap { unit in
            let count = Int64(rest / unit.length)
            rest -= unit.length * count
            return count == 0 ? nil : "\(count)\(unit.names[0])"
        }
        return rest == .zero && !parts.isEmpty ? parts.joined(separator: " ") : nil
    }
}

extension StoredValue {
    /// The values of a person's text, in which what equals the former value is the former value: an object that is a form of
    /// JSON, and a number in another spelling. Its other parts stay as the text has them.
    package func keepingEqual(to former: StoredValue?) -> StoredValue {
        switch (self, former) {
        case (.decimal(let text), let former?) where JSONForms.number(text) == former: return former
        case (.dictionary(var members), .dictionary(let former)?):
            for (key, value) in members { members[key] = value.keepingEqual(to: former[key]) }
            return .dictionary(members)
        case (.dictionary(let members), let former?) where JSONForm.value(ofObject: members) == former: return former
        case (.array(var elements), .array(let former)?) where elements.count == former.count:
            for index in elements.indices { elements[index] = elements[index].keepingEqual(to: former[index]) }
            return .array(elements)
        default: return self
        }
    }
}
