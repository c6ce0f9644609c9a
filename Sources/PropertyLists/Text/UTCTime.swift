/// A second of UTC in the proleptic Gregorian calendar, computed without a time zone. Uses `Int64`, because `Int` has
/// 32 bits on some watches.
package struct UTCTime {
    package let year: Int64
    package let month: Int64
    package let day: Int64
    package let hour: Int64
    package let minute: Int64
    package let second: Int64

    package init(secondsSince1970 seconds: Int64) {
        let (days, time) = seconds.quotientAndRemainder(flooringBy: 86_400)
        // If years begin on 1 March, a leap day ends its year. 400 years have 146,097 days.
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60)
    }

    /// Creates a second; nil if it does not exist, such as 30 February or a leap second.
    package init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
            (0...59).contains(second)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
        let same = UTCTime(secondsSince1970: secondsSince1970)
        guard same.month == month, same.day == day else { return nil }
    }

    package var secondsSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// `2026-11-21T19:02:43`; a year has four digits, or more.
    package var text: String {
        "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number.magnitude)
        let zeros = String(repeating: "0", count: max(0, width - digits.count - (number < 0 ? 1 : 0)))
        return (number < 0 ? "-" : "") + zeros + digits
    }
}

extension Int64 {
    fileprivate func quotientAndRemainder(flooringBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
