/// The scalars that JSON strings of this package escape, and the text of an escape.
package enum JSONEscape {
    /// Whether the scalar is escaped in every JSON text of this package, not only on a terminal.
    ///
    /// True for all control characters and for U+2028 and U+2029. JSON allows DEL and U+0080–U+009F unescaped, but terminals obey
    /// them; some readers take U+2028 and U+2029 for the end of a line.
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
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += #"\""#
            case "\\": quoted += #"\\"#
            case "\n": quoted += #"\n"#
            case "\r": quoted += #"\r"#
            case "\t": quoted += #"\t"#
            case _ where isRequired(scalar): quoted += self.text(of: scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
