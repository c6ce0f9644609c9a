import Foundation

/// Writes an XML property list. Foundation's writer loses the sign of −0.0, a leading U+FEFF and, some billion years away,
/// seconds; in all else the two agree to the byte, so that files may go back and forth.
struct XMLPropertyListWriter {
    private var text = ""

    static func data(from value: Any) throws -> Data {
        var writer = Self()
        writer.text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        try writer.write(value, indent: "")
        writer.text += "</plist>\n"
        return Data(writer.text.utf8)
    }

    private mutating func write(_ value: Any, indent: String) throws {
        switch CanonicalForm(value) {
        case .text(let text): line("<string>\(Self.escaped(text))</string>", indent)
        case .bool(let bool): line(bool ? "<true/>" : "<false/>", indent)
        case .number(let number): line(Self.text(of: CanonicalNumber(number)), indent)
        case .date(let date): line("<date>\(try Self.text(of: date))</date>", indent)
        case .data(let data):
            line("<data>", indent)
            // Beyond the eighth level Foundation indents the lines of data no deeper.
            let margin = indent.prefix(8)
            data.base64EncodedString().chunked(76 - margin.count * 8).forEach { line($0, margin) }
            line("</data>", indent)
        case .list(let elements): try write(elements, indent: indent)
        case .dictionary(let dictionary): try write(dictionary, indent: indent)
        case .foreign: try writeForeign(value, indent: indent)
        }
    }

    /// An object of other programs (the UID of a keyed archive), which Foundation reads and only Foundation can write.
    private mutating func writeForeign(_ value: Any, indent: String) throws {
        let bytes = try PropertyListSerialization.data(fromPropertyList: [value], format: .xml, options: 0)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        // Three lines of header and <array>, an indent, and the ends of the array and of the list.
        for content in lines.dropFirst(4).dropLast(2) { line(content.dropFirst(), indent) }
    }

    private mutating func write(_ array: [Any], indent: String) throws {
        guard !array.isEmpty else { return line("<array/>", indent) }
        line("<array>", indent)
        for element in array { try write(element, indent: indent + "\t") }
        line("</array>", indent)
    }

    private mutating func write(_ dictionary: [String: Any], indent: String) throws {
        guard !dictionary.isEmpty else { return line("<dict/>", indent) }
        line("<dict>", indent)
        for (key, value) in dictionary.sorted(by: { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }) {
            line("<key>\(Self.escaped(key))</key>", indent + "\t")
            try write(value, indent: indent + "\t")
        }
        line("</dict>", indent)
    }

    private mutating func line(_ content: some StringProtocol, _ indent: some StringProtocol) {
        text += indent
        text += content
        text += "\n"
    }

    private static func escaped(_ string: String) -> String {
        var result = ""
        // Readers take one leading U+FEFF for a byte order mark.
        if string.unicodeScalars.first == "\u{FEFF}" { result.unicodeScalars.append("\u{FEFF}") }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func text(of number: CanonicalNumber) -> String {
        switch number {
        case .bool(let value): return value ? "<true/>" : "<false/>"
        case .integer(let value): return "<integer>\(value)</integer>"
        case .unsigned(let value): return "<integer>\(value)</integer>"
        case .double(let bits):
            let value = Double(bitPattern: bits)
            if value.isNaN { return "<real>nan</real>" }
            if value == 0 { return value.sign == .minus ? "<real>-0.0</real>" : "<real>0.0</real>" }
            if value.isInfinite { return value < 0 ? "<real>-infinity</real>" : "<real>+infinity</real>" }
            return "<real>\(String(format: "%.17g", value))</real>"
        }
    }

    /// The second in which the date lies.
    private static func text(of date: Date) throws -> String {
        guard let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down)) else {
            throw CocoaError(.propertyListWriteInvalid)
        }
        let time = UTCTime(secondsSince1970: seconds)
        // Foundation reads a year into 32 bits.
        guard Int32(exactly: time.year) != nil else { throw CocoaError(.propertyListWriteInvalid) }
        return time.text + "Z"
    }
}

extension String {
    /// Pieces of at most `length` characters.
    fileprivate func chunked(_ length: Int) -> [Substring] {
        var pieces: [Substring] = []
        var rest = self[...]
        while !rest.isEmpty {
            pieces.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}
