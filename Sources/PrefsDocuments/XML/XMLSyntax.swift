import Foundation
package import PrefsPropertyLists

/// The syntax of an XML property list in UTF-8. Its places are those of the scanner that the reader uses.
package struct XMLSyntax: TextSyntax {
    package static let form = TextForm(
        commentStart: UInt8(ascii: "<"), separator: nil, space: [], step: Array("\t".utf8), between: .newLine([]),
        joinsEmptied: false)

    private var scanner: XMLScanner

    package init(_ bytes: UnsafeRawBufferPointer) { scanner = XMLScanner(bytes) }

    package var bytes: UnsafeRawBufferPointer { scanner.bytes }

    package var position: Int {
        get { scanner.position }
        set { scanner.position = newValue }
    }

    // MARK: - Places

    package mutating func skipToValue() throws {
        try scanner.skipProlog()
        try skipBlanks()
        let start = position
        if case .start(let name, _) = try scanner.nextTag(), scanner.isName(name, "plist") {
            try skipBlanks()
        } else {
            position = start
        }
    }

    package mutating func skipBlanks() throws {
        repeat { scanner.skipBlanks() } while try scanner.skipIgnored()
    }

    package mutating func skipComment() throws -> Bool { try scanner.skipIgnored() }

    package mutating func open() throws -> TextOpening? {
        let start = position
        if case .start(let name, let isEmpty) = try scanner.nextTag() {
            for (container, isDictionary) in [("dict" as StaticString, true), ("array", false)] {
                if scanner.isName(name, container) {
                    return TextOpening(isDictionary: isDictionary, isEmptyElement: isEmpty)
                }
            }
        }
        position = start
        return nil
    }

    package mutating func close() throws -> Bool {
        guard bytes[position...].starts(with: "</".utf8) else { return false }
        _ = try scanner.nextTag()
        return true
    }

    package mutating func skipKey() throws { try skipElement() }

    package mutating func skipToMember() throws { try skipBlanks() }

    package mutating func skipValue() throws { try skipElement() }

    /// Skips an element with everything in it.
    private mutating func skipElement() throws {
        var depth = 0
        while true {
            switch try scanner.nextTag() {
            case .start(_, let isEmpty): depth += isEmpty ? 0 : 1
            case .end: depth -= 1
            case .endOfDocument: throw TextMismatch()
            }
            guard depth > 0 else { return }
            try skipText()
        }
    }

    /// Moves to the next tag.
    private mutating func skipText() throws {
        while let start = bytes.baseAddress, position < bytes.count {
            guard let next = memchr(start + position, 0x3C, bytes.count - position) else { throw TextMismatch() }
            position = UnsafeRawPointer(next) - start
            guard try scanner.skipSection() || scanner.skipIgnored() else { return }
        }
    }

    package func key(in range: Range<Int>) throws -> String {
        var key = scanner
        key.position = range.lowerBound
        guard case .start(_, let isEmpty) = try key.nextTag() else { throw TextMismatch() }
        return isEmpty ? "" : try key.readText()
    }

    package func kind(of range: Range<Int>) -> TextForm.Kind {
        let name = (range.lowerBound + 1)..<range.upperBound
        func begins(with word: StaticString) -> Bool { scanner.isName(name.prefix(word.utf8CodeUnitCount), word) }
        if begins(with: "dict") || begins(with: "array") { return .container }
        return begins(with: "true") || begins(with: "false") ? .bool : .scalar
    }

    package func hasItems(_ range: Range<Int>) -> Bool {
        var content = self
        content.position = range.lowerBound
        guard let opening = try? content.open(), !opening.isEmptyElement, (try? content.skipBlanks()) != nil else {
            return false
        }
        return (try? content.close()) == false
    }

    // MARK: - Writing

    /// A lone number `CF$UID` would be read as a reference of a keyed archive.
    package func isWhole(_ members: [String: StoredValue], isTop: Bool) -> Bool {
        members.count == 1 && members[KeyedArchiveUID.key]?.isNumber == true
    }

    package func expanded(_ opening: Range<Int>) -> (opening: [UInt8], closing: [UInt8]) {
        let tag = bytes[opening].dropLast(2)
        let content = tag.reversed().drop { $0 == 0x20 || (9...13).contains($0) }.reversed()
        let name = content.dropFirst().prefix { $0 != 0x20 && !(9...13).contains($0) }
        return (content + [UInt8(ascii: ">")], Array("</".utf8) + name + [UInt8(ascii: ">")])
    }

    package func bytes(ofKey key: String) throws -> [UInt8] { try XMLPropertyListWriter.bytes(ofKey: key) }

    package func bytes(
        of value: StoredValue, inPlaceOf former: (range: Range<Int>, value: StoredValue)?, style: TextStyle, depth: Int
    ) throws -> [UInt8] {
        if case .bool(let bool) = value, let former, case .bool = former.value {
            return renamed(former.range, to: Array((bool ? "true" : "false").utf8))
        }
        var style = style
        if case .data = value, let former, case .data = former.value {
            style.isOneLine = !bytes[former.range].contains(UInt8(ascii: "\n"))
        }
        let layout = XMLLayout(
            lineEnd: style.isOneLine ? nil : style.lineEnd + style.margin, step: style.step
        ) { value in
            if case .sameLine(let blanks) = style.between(TextForm.Kind(value)) { blanks } else { nil }
        }
        let text = try XMLPropertyListWriter.bytes(of: value, replacing: former?.value, layout: layout, depth: depth)
        return former.flatMap { attributed(text, as: $0.range) } ?? text
    }

    /// The text of a Boolean, spelled as the one in a range.
    private func renamed(_ range: Range<Int>, to name: [UInt8]) -> [UInt8] {
        var (tags, text, copied) = (scanner, [UInt8](), range.lowerBound)
        tags.position = range.lowerBound
        while tags.position < range.upperBound {
            switch try? tags.nextTag() {
            case .start(let former, _), .end(let former):
                text += bytes[copied..<former.lowerBound] + name
                copied = former.upperBound
            default: tags.position = range.upperBound
            }
        }
        return text + bytes[copied..<range.upperBound]
    }

    /// A text whose opening is the one in a range, if that has attributes and the same name; otherwise nil.
    private func attributed(_ text: [UInt8], as range: Range<Int>) -> [UInt8]? {
        var former = scanner
        former.position = range.lowerBound
        guard case .start(let name, isEmpty: false)? = try? former.nextTag(), former.position > name.upperBound + 1,
            let end = text.firstIndex(of: UInt8(ascii: ">")), text[1..<end].elementsEqual(bytes[name])
        else { return nil }
        return Array(bytes[range.lowerBound..<former.position]) + text[(end + 1)...]
    }
}
