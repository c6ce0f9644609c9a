/// The form of nil inside a container.
package enum NilMarker {
    /// The word of `PropertyListEncoder`.
    package static let text = "$null"

    package static func isMarker(_ object: Any) -> Bool {
        object as? String == text
    }

    /// Adds a `$` to a string that could be mistaken for the marker or for an escaped string.
    static func escaped(_ object: Any) -> Any {
        guard let string = object as? String, string.hasPrefix("$") else { return object }
        return escaped(string)
    }

    static func escaped(_ string: String) -> String {
        isDollarsAndNull(string) ? "$" + string : string
    }

    static func unescaped(_ object: Any) -> Any {
        guard let string = object as? String, string.hasPrefix("$$") else { return object }
        return unescaped(string)
    }

    static func unescaped(_ string: String) -> String {
        string.hasPrefix("$$") && isDollarsAndNull(string) ? String(string.dropFirst()) : string
    }

    private static func isDollarsAndNull(_ string: String) -> Bool {
        // Called for each text that is encoded.
        string.utf8.first == UInt8(ascii: "$") && string.hasSuffix(text)
            && string.dropLast(text.count).utf8.allSatisfy { $0 == UInt8(ascii: "$") }
    }
}
