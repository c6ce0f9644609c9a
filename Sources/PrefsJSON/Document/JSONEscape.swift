import PrefsPropertyLists

/// The scalars that JSON strings of this package escape, and the text of an escape.
package enum JSONEscape {
    /// Whether the scalar is escaped in every JSON text of this package, not only on a terminal.
    ///
    /// True for all control characters and for U+2028 and U+2029. JSON allows DEL and U+0080–U+009F unescaped, but
    /// terminals obey them; some readers take U+2028 and U+2029 for the end of a line.
    static func isRequired(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }

    /// `\u009b`; a surrogate pair for a scalar beyond U+FFFF.
    static func text(of scalar: Unicode.Scalar) -> String {
        scalar.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    /// A text as a string of JSON, in quotation marks.
    package static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += #"\""#.utf8
            case "\\": bytes += #"\\"#.utf8
            case "\n": bytes += #"\n"#.utf8
            case "\r": bytes += #"\r"#.utf8
            case "\t": bytes += #"\t"#.utf8
            case _ where isRequired(scalar): bytes += self.text(of: scalar).utf8
            // Faster than the next case.
            case _ where scalar.isASCII: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            default: bytes += scalar.utf8
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension ShownText {
    /// JSON text that reads as an equal value, for a terminal: the unsafe scalars in its strings have the form
    /// `\u202e`.
    package static func json(_ json: String) -> String {
        replacing(in: json) { isLayout($0) ? nil : JSONEscape.text(of: $0) }
    }
}
