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
        var text = text
        text.withUTF8 { utf8 in
            // Most bytes stand for themselves, and are copied together.
            var (copied, position) = (0, 0)
            while true {
                position = UnsafeRawBufferPointer(utf8).endOfPlainText(from: position)
                guard position < utf8.count else { break }
                let (scalar, length) = mayBeEscaped(in: utf8, at: position)
                if let escape = scalar.flatMap(escape) {
                    bytes.append(contentsOf: utf8[copied..<position])
                    bytes.append(contentsOf: escape.utf8)
                    copied = position + length
                }
                position += length
            }
            bytes.append(contentsOf: utf8[copied...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The scalar that begins at a place of UTF-8, if its first byte is one of those with which escaped scalars begin; and the
    /// number of bytes that the answer is about.
    private static func mayBeEscaped(
        in utf8: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> (Unicode.Scalar?, length: Int) {
        let byte = utf8[position]
        switch byte {
        case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F: return (Unicode.Scalar(byte), 1)
        // U+0080 to U+00BF.
        case 0xC2: return (Unicode.Scalar(utf8[position + 1]), 2)
        // U+2000 to U+2FFF.
        case 0xE2:
            let (second, third) = (UInt32(utf8[position + 1] & 0x3F), UInt32(utf8[position + 2] & 0x3F))
            return (Unicode.Scalar(0x2000 | second << 6 | third), 3)
        default: return (nil, 1)
        }
    }

    /// nil if the scalar stands for itself.
    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"": #"\""#
        case "\\": #"\\"#
        case "\n": #"\n"#
        case "\r": #"\r"#
        case "\t": #"\t"#
        default: isRequired(scalar) ? text(of: scalar) : nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The place behind the bytes that are neither a control character, a quotation mark, a backslash nor part of a scalar
    /// outside of ASCII. Looks at eight bytes at once, because texts may be long, and may stop before the place.
    func endOfPlainText(from start: Int) -> Int {
        func bytes(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
        // The high bit of each byte that is 0, and of some bytes above such a byte.
        func zeros(_ word: UInt64) -> UInt64 { (word &- bytes(1)) & ~word }
        var position = start
        while position + 8 <= count {
            let word = loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let others =
                word | (word &- bytes(0x20)) | zeros(word ^ bytes(UInt8(ascii: "\"")))
                | zeros(word ^ bytes(UInt8(ascii: "\\"))) | zeros(word ^ bytes(0x7F))
            if others & bytes(0x80) != 0 { break }
            position += 8
        }
        return position
    }
}

extension ShownText {
    /// JSON text that reads as an equal value, for a terminal: the unsafe scalars in its strings have the form
    /// `\u202e`.
    package static func json(_ json: String) -> String {
        replacing(in: json) { isLayout($0) ? nil : JSONEscape.text(of: $0) }
    }
}
