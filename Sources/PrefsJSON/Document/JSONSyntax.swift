import Foundation
package import PrefsDocuments
package import PrefsPropertyLists

enum JSONText {
    /// Returns the bytes of a text after a change of its value, as `ChangedText`.
    ///
    /// - Parameter limits: the limits of the reader, which would reject more values.
    static func bytes(
        changing text: Data, from former: StoredValue, to new: StoredValue, isPlain: Bool = false,
        limits: JSONReader.Limits = .file
    ) throws -> FileBytes {
        let syntax = { (bytes: UnsafeRawBufferPointer) in JSONSyntax(bytes, isPlain: isPlain) }
        let bytes = try ChangedText.bytes(of: text, in: syntax, from: former, to: new)
        // A value and its comma take two bytes, and each value but the first is behind a comma or a bracket. So most texts need
        // not be read.
        if bytes.count / 2 > limits.nodes, mostValues(in: bytes) > limits.nodes,
            (try? JSONReader.value(of: bytes.joined, limits: limits)) == nil
        {
            throw PropertyListFailure(path: "", topLevelKey: "", reason: "more than \(limits.nodes) values")
        }
        return bytes
    }

    /// A number of values that the text does not exceed.
    private static func mostValues(in bytes: FileBytes) -> Int {
        var count = 1
        bytes.forEachPart { part in
            part.withUnsafeBytes { bytes in
                count += bytes.count {
                    $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{")
                }
            }
        }
        return count
    }
}

/// The syntax of a JSON text that was read before.
package struct JSONSyntax: TextSyntax {
    package static let form = TextForm(
        commentStart: UInt8(ascii: "/"), separator: UInt8(ascii: ","), space: Array(" ".utf8), step: Array("  ".utf8),
        between: .sameLine(Array(": ".utf8)), joinsEmptied: true)

    package let bytes: UnsafeRawBufferPointer
    package var position = 0
    /// Whether keys are written as they are.
    private let isPlain: Bool

    package init(_ bytes: UnsafeRawBufferPointer, isPlain: Bool = false) {
        (self.bytes, self.isPlain) = (bytes, isPlain)
    }

    // MARK: - Places

    package mutating func skipToValue() {
        if bytes.starts(with: JSONReader.byteOrderMark) { position = JSONReader.byteOrderMark.count }
        skipBlanks()
    }

    package mutating func skipBlanks() { JSONBlanks.skip(&position, in: bytes) }

    package mutating func skipComment() -> Bool { JSONBlanks.skipsComment(&position, in: bytes) }

    package mutating func open() -> TextOpening? {
        guard let byte = current, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") else { return nil }
        position += 1
        return TextOpening(isDictionary: byte == UInt8(ascii: "{"))
    }

    package mutating func close() throws -> Bool {
        guard let byte = current else { throw TextMismatch() }
        guard byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") else { return false }
        position += 1
        return true
    }

    package mutating func skipKey() throws {
        guard current == UInt8(ascii: "\"") else { throw TextMismatch() }
        position = try end(ofText: position)
    }

    private func end(ofText start: Int) throws -> Int {
        var end = start + 1
        while true {
            end = bytes.endOfPlainText(from: end)
            guard end < bytes.count else { break }
            let byte = bytes[end]
            end += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return end }
        }
        throw TextMismatch()
    }

    package mutating func skipToMember() throws {
        skipBlanks()
        guard current == UInt8(ascii: ":") else { throw TextMismatch() }
        position += 1
        skipBlanks()
    }

    package mutating func skipValue() throws {
        guard let first = current else { throw TextMismatch() }
        if first == UInt8(ascii: "\"") { return try skipKey() }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            let start = position
            while position < bytes.count, !Self.isEnd(bytes[position]) { position += 1 }
            if position == start { throw TextMismatch() }
            return
        }
        // In variables of its own, because it looks at most of the bytes.
        let bytes = bytes
        var (next, depth) = (position, 0)
        while next < bytes.count {
            switch bytes[next] {
            case UInt8(ascii: "\""):
                next = try end(ofText: next)
                continue
            case UInt8(ascii: "/"):
                guard JSONBlanks.skipsComment(&next, in: bytes) else { throw TextMismatch() }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            next += 1
            if depth == 0 {
                position = next
                return
            }
        }
        throw TextMismatch()
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }

    package func key(in range: Range<Int>) throws -> String {
        let text = bytes[range]
        if !text.contains(UInt8(ascii: "\\")) { return String(decoding: text.dropFirst().dropLast(), as: UTF8.self) }
        guard let key = try JSONReader.value(of: UnsafeRawBufferPointer(rebasing: text), limits: .file).string else {
            throw TextMismatch()
        }
        return key
    }

    /// All values of JSON are laid out alike.
    package func kind(of range: Range<Int>) -> TextForm.Kind { .scalar }

    package func hasItems(_ range: Range<Int>) -> Bool {
        let first = bytes[range.lowerBound]
        return range.count > 2 && (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
    }

    // MARK: - Writing

    /// The values at the top are a dictionary, whatever their keys are.
    package func isWhole(_ members: [String: StoredValue], isTop: Bool) -> Bool {
        !isTop && !isPlain && JSONForm.isMistakable(members)
    }

    package func expanded(_ opening: Range<Int>) -> (opening: [UInt8], closing: [UInt8]) { (Array(bytes[opening]), []) }

    package func bytes(ofKey key: String) -> [UInt8] {
        var text: [UInt8] = []
        JSONEscape.append(key, to: &text)
        return text
    }

    package func bytes(
        of value: StoredValue, inPlaceOf former: (range: Range<Int>, value: StoredValue)?, style: TextStyle, depth: Int
    ) throws -> [UInt8] {
        // Most changes are of numbers, and a writer with its layout costs more than the text.
        if case .integer(let number) = value { return Array(number.description.utf8) }
        guard case .sameLine(let colon) = style.between(.scalar) else { throw TextMismatch() }
        return try JSONWriter.bytes(
            of: value,
            layout: JSONWriter.Layout(
                lineEnd: style.isOneLine ? nil : style.lineEnd + style.margin, step: style.step, colon: colon),
            isOfFile: depth == 0, isPlain: isPlain)
    }
}
