import Foundation

/// Values from the words of a command line, and back.
enum ValueText {
    /// - Throws: `UsageError` where the text is no value of the type.
    static func parse(_ text: String, as type: HarnessKey.ValueType) throws(UsageError) -> Any {
        switch type {
        case .int:
            guard let value = Int(text) else {
                throw UsageError("\"\(text)\" is no integer of 64 bits; give one such as 42 or -7")
            }
            return value
        case .string:
            return text
        case .array:
            guard text.hasPrefix("[") else {
                return text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
            guard let value = json(text) as? [String] else {
                throw UsageError("\(text) is no JSON array of texts; give one such as [\"a\",\"b\"], or a,b")
            }
            return value
        case .dictionary:
            return try dictionary(text)
        case .date:
            guard let value = date(text) else {
                throw UsageError(
                    "\"\(text)\" is no date of ISO 8601; give one such as 2026-11-20 or 2026-11-20T08:30:00Z")
            }
            return value
        }
    }

    /// A value as one line: text and dates bare, containers as JSON.
    static func line(_ value: Any) -> String {
        if let text = value as? String { return text }
        if let date = value as? Date { return JSONText.date(date) }
        return JSONText.value(value)
    }

    private static func dictionary(_ text: String) throws(UsageError) -> [String: String] {
        if text.hasPrefix("{") {
            guard let value = json(text) as? [String: String] else {
                throw UsageError("\(text) is no JSON object of texts; give one such as {\"k\":\"v\"}, or k=v")
            }
            return value
        }
        var result: [String: String] = [:]
        for pair in text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, result[String(parts[0])] == nil else {
                let flaw = parts.count == 2 ? "stands twice" : "has no ="
                throw UsageError("\"\(pair)\" \(flaw); give pairs such as k=v,k2=v2, or JSON such as {\"k\":\"v\"}")
            }
            result[String(parts[0])] = String(parts[1])
        }
        return result
    }

    private static func json(_ text: String) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    private static func date(_ text: String) -> Date? {
        let time = Date.ISO8601FormatStyle()
        let styles = [time, Date.ISO8601FormatStyle(includingFractionalSeconds: true), time.year().month().day()]
        return styles.lazy.compactMap { style in
            // A style is satisfied with a beginning; what it does not give back was not read.
            guard let date = try? style.parse(text), text.count >= style.format(date).count else { return nil }
            return date
        }.first
    }
}
