/// The words of a key, which make the names of its variable and its option: `fontSize` is `FONT_SIZE` and `font-size`.
///
/// A word ends before an upper-case letter that follows a lower-case one, before the last upper-case letter of an acronym
/// that a lower-case letter follows, and at each character that is not an ASCII letter or digit: `HTTPPort` is
/// `HTTP_PORT`, and `editor.fontSize` is `EDITOR_FONT_SIZE`. A digit is like the letter before it: `utf8Name` is
/// `UTF8_NAME`.
struct KeyWords {
    /// In lower case. Empty if the key has no ASCII letter or digit.
    private var words: [String] = []

    /// nil if the key has no words.
    var variable: String? { words.isEmpty ? nil : words.joined(separator: "_").uppercased() }

    /// nil if the key has no words.
    var option: String? { words.isEmpty ? nil : words.joined(separator: "-") }

    init(_ key: String) {
        let bytes = Array(key.utf8)
        var word = ""
        var last = Kind.other
        for (index, byte) in bytes.enumerated() {
            var kind = Kind(byte)
            if kind == .digit { kind = last == .lower ? .lower : .upper }
            let next = index + 1 < bytes.count ? Kind(bytes[index + 1]) : .other
            let begins = Kind(byte) == .upper && (last == .lower || next == .lower)
            if begins || kind == .other, !word.isEmpty {
                words.append(word)
                word = ""
            }
            if kind != .other { word.unicodeScalars.append(Unicode.Scalar(byte)) }
            last = kind
        }
        if !word.isEmpty { words.append(word) }
        words = words.map { $0.lowercased() }
    }

    private enum Kind {
        case lower, upper, digit, other

        init(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .lower
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
            default: self = .other
            }
        }
    }
}
