package import Foundation
import PrefsPropertyLists

/// Dates as ISO 8601 in UTC, `2026-11-21T19:02:43.25Z`, with every digit of the fraction.
package enum JSONDate {
    private static let secondsFrom1970To2001: Int64 = 978_307_200

    /// The text that reads back as exactly this interval since 2001; nil if no text does.
    package static func text(of interval: TimeInterval) -> String? {
        // The shortest digits that identify this double. An exponent means that the date is outside of the range of
        // texts.
        let parts = interval.magnitude.description.split(separator: ".")
        guard parts.count == 2, var seconds = Int64(parts[0]), parts[1].utf8.allSatisfy(isDigit) else { return nil }
        var fraction = parts[1] == "0" ? "" : String(parts[1])
        if interval < 0 {
            seconds = -seconds
            if !fraction.isEmpty { (seconds, fraction) = (seconds - 1, complement(of: fraction)) }
        }
        let time = UTCTime(secondsSince1970: seconds + secondsFrom1970To2001)
        guard (0...9_999).contains(time.year) else { return nil }
        let text = time.text + (fraction.isEmpty ? "" : "." + fraction) + "Z"
        return self.interval(of: text)?.bitPattern == interval.bitPattern ? text : nil
    }

    /// The interval since 2001 that is nearest to the text; nil if the text has another form.
    package static func interval(of text: String) -> TimeInterval? {
        let form = Array("0000-00-00T00:00:00".utf8)
        let bytes = Array(text.utf8)
        guard bytes.count > form.count, bytes.count <= 64, bytes.last == UInt8(ascii: "Z") else { return nil }
        let isInForm = zip(bytes, form).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
        guard isInForm else { return nil }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let time = UTCTime(
            year: number(0..<4), month: number(5..<7), day: number(8..<10), hour: number(11..<13),
            minute: number(14..<16), second: number(17..<19))
        guard let time else { return nil }
        let seconds = time.secondsSince1970 - secondsFrom1970To2001
        var rest = bytes[form.count..<(bytes.count - 1)]
        if rest.isEmpty { return TimeInterval(seconds) }
        guard rest.removeFirst() == UInt8(ascii: "."), !rest.isEmpty, rest.allSatisfy(isDigit) else { return nil }
        let fraction = String(decoding: rest, as: UTF8.self)
        guard seconds < 0, rest.contains(where: { $0 != UInt8(ascii: "0") }) else {
            return Double("\(seconds).\(fraction)")
        }
        return Double("-\(-1 - seconds).\(complement(of: fraction))")
    }

    /// The bytes of a day, such as `2026-11-21`.
    static let lengthOfDay = 10

    /// A day, or a moment in UTC or with an offset: `+01`, `+0100` or `+01:00`.
    package static func date(_ text: String) -> Date? {
        if text.utf8.count == lengthOfDay {
            return interval(of: text + "T00:00:00Z").map(Date.init(timeIntervalSinceReferenceDate:))
        }
        let offset = offset(in: text)
        let clock = offset.map { text.dropLast($0.text.count) + "Z" } ?? text
        return interval(of: clock).map {
            Date(timeIntervalSinceReferenceDate: $0 - Double(offset?.seconds ?? 0))
        }
    }

    /// The offset at the end of a moment; nil if it has none.
    static func offset(in text: String) -> (text: String, seconds: Int)? {
        let bytes = Array(text.utf8)
        guard let sign = bytes.lastIndex(where: { [UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0) }), sign >= 19
        else { return nil }
        var digits = bytes[(sign + 1)...]
        if digits.count == 5, digits[digits.startIndex + 2] == UInt8(ascii: ":") {
            digits.remove(at: digits.startIndex + 2)
        }
        guard [2, 4].contains(digits.count), digits.allSatisfy(isDigit),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let (hours, minutes) = digits.count == 2 ? (number, 0) : number.quotientAndRemainder(dividingBy: 100)
        guard hours < 24, minutes < 60 else { return nil }
        let seconds = (hours * 60 + minutes) * (bytes[sign] == UInt8(ascii: "+") ? 60 : -60)
        return (String(decoding: bytes[sign...], as: UTF8.self), seconds)
    }

    /// The difference of a fraction to 1, in the same number of digits. The fraction is not 0.
    private static func complement(of fraction: String) -> String {
        let kept = fraction.utf8.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        var digits = fraction.utf8.map { UInt8(ascii: "9") - $0 + UInt8(ascii: "0") }
        for index in (digits.count - kept)..<digits.count { digits[index] = UInt8(ascii: "0") }
        digits[digits.count - kept - 1] += 1
        return String(decoding: digits, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
