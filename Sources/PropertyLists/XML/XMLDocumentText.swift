/// Converts an XML document of any encoding to UTF-8.
///
/// Follows Appendix F of XML 1.0: a byte order mark, the pattern of the first bytes or the declaration, in this order,
/// gives the encoding.
package enum XMLDocumentText {
    /// The encoding of a document.
    package enum Encoding: Equatable {
        case utf8, ascii, latin1
        case utf16(isBigEndian: Bool)
    }

    /// The document in UTF-8, without a byte order mark; nil if the bytes already have this form.
    package static func transcoded(_ bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> [UInt8]? {
        let (encoding, mark) = try encoding(of: bytes)
        switch encoding {
        case .utf8: return mark == 0 ? nil : Array(bytes.dropFirst(mark))
        case .utf16(let isBigEndian): return try fromUTF16(bytes.dropFirst(mark), isBigEndian: isBigEndian)
        case .ascii:
            // Other readers take such a byte for Latin-1, or reject it.
            guard bytes.allSatisfy({ $0 < 0x80 }) else {
                throw .malformed("a byte that is not ASCII, which its declaration says it is")
            }
            return nil
        case .latin1: return Array(String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) })).utf8)
        }
    }

    /// The encoding, and the number of bytes of the byte order mark.
    package static func encoding(
        of bytes: UnsafeRawBufferPointer
    ) throws(PropertyListFault) -> (encoding: Encoding, mark: Int) {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
            throw .unsupported("expected UTF-8, UTF-16, Latin-1 or ASCII, found UTF-32")
        }
        if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16(isBigEndian: false), 2) }
        if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16(isBigEndian: true), 2) }
        if bytes.starts(with: [0x3C, 0]) { return (.utf16(isBigEndian: false), 0) }
        if bytes.starts(with: [0, 0x3C]) { return (.utf16(isBigEndian: true), 0) }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        switch try declaredEncoding(bytes) {
        case nil, "utf-8", "utf8": return (.utf8, 0)
        case "us-ascii", "ascii": return (.ascii, 0)
        case "iso-8859-1", "iso_8859-1", "latin1", "latin-1": return (.latin1, 0)
        case let name? where name.hasPrefix("utf-16"):
            throw .unsupported("its declaration says \(name.prefix(40)), but its bytes are not")
        case let name?:
            throw .unsupported("expected UTF-8, UTF-16, Latin-1 or ASCII, found the encoding \"\(name.prefix(40))\"")
        }
    }

    private static func fromUTF16(
        _ bytes: Slice<UnsafeRawBufferPointer>, isBigEndian: Bool
    ) throws(PropertyListFault) -> [UInt8] {
        guard bytes.count.isMultiple(of: 2) else {
            throw PropertyListFault(reason: "ends inside a character of UTF-16")
        }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for index in stride(from: bytes.startIndex, to: bytes.endIndex, by: 2) {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
        }
        let text = String(decoding: units, as: UTF16.self)
        // An unpaired surrogate was replaced.
        guard text.utf16.elementsEqual(units) else { throw .malformed("an unpaired surrogate in its UTF-16") }
        return Array(text.utf8)
    }

    // A literal is compiled each time that it is used. Threads may share a pattern without closures: it is compiled once, atomically.
    nonisolated(unsafe) private static let encodingForm = /encoding\s*=\s*["']([^"']*)["']/
    nonisolated(unsafe) private static let encodingWord = /encoding/

    /// The value of `encoding="…"` in the XML declaration, in lowercase; nil without one. A declaration is at the very
    /// beginning. Several values give an unknown encoding, because readers choose differently.
    private static func declaredEncoding(_ bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> String? {
        guard bytes.starts(with: "<?xml".utf8) else { return nil }
        let start = bytes.prefix(1_000).prefix { $0 != UInt8(ascii: ">") }
        guard start.count < 1_000 else { throw .malformed("its XML declaration does not end within 1,000 bytes") }
        let declaration = String(decoding: start, as: UTF8.self)
        let words = declaration.matches(of: encodingWord).count
        if words == 0 { return nil }
        let names = declaration.matches(of: encodingForm).map { $0.output.1.lowercased() }
        // The word without a value counts as a value: `encoding=encoding="latin1""utf-8"`, `encoding="latin1>"`.
        let others = words - names.count
        return (names + Array(repeating: "an unreadable one", count: max(0, others))).joined(separator: " and ")
    }
}
