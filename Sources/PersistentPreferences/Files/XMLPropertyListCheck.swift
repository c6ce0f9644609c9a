/// Bounds the nesting of an XML property list before Foundation's recursive parser sees it.
enum XMLPropertyListCheck {
    /// Those in which the bytes of a tag are a tag and no others are.
    private static let encodings: Set = ["utf-8", "us-ascii", "iso-8859-1"]
    private static let otherEncoding = "text in an encoding other than UTF-8"
    private static let starts = ["<?xml", "<!DOCTYPE", "<plist", "<!--"].map { Array($0.utf8) }

    static func run(_ bytes: UnsafeRawBufferPointer) throws(PropertyListCoder.Flaw) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { throw .excess(otherEncoding) }
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        rest = rest.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        guard starts.contains(where: { rest.starts(with: $0) }) else {
            throw .damage("neither a binary nor an XML property list")
        }
        if rest.starts(with: starts[0]) { try checkEncoding(rest) }
        var depth = 0
        var elements = 0
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(open + 1)...]
            if rest.starts(with: "!--".utf8) {
                // Foundation looks for the end behind the beginning: `<!-->` ends nothing.
                rest = after("-->", in: rest.dropFirst(3))
            } else if rest.starts(with: "![CDATA[".utf8) {
                rest = after("]]>", in: rest.dropFirst(8))
            } else if rest.first == UInt8(ascii: "?") {
                rest = after("?>", in: rest)
            } else if rest.first == UInt8(ascii: "!") {
                rest = after(">", in: rest)
            } else {
                let end = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
                let isClosing = rest.first == UInt8(ascii: "/")
                let isEmpty = rest[..<end].last == UInt8(ascii: "/")
                depth += isClosing ? -1 : isEmpty ? 0 : 1
                if !isClosing { elements += 1 }
                guard elements <= PropertyListLimits.fileNodes else {
                    throw .excess("more than \(PropertyListLimits.fileNodes) values")
                }
                // Three levels stand around a value: plist, the top level and the scalar's own element.
                guard depth <= PropertyListLimits.fileDepth + 3 else {
                    throw .excess("nested deeper than \(PropertyListLimits.fileDepth) levels")
                }
                rest = rest[end...]
            }
        }
    }

    private static func checkEncoding(_ rest: Slice<UnsafeRawBufferPointer>) throws(PropertyListCoder.Flaw) {
        let declaration = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: ">") }
        let value = after("encoding=", in: declaration)
        guard let quote = value.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return }
        let name = String(decoding: value.dropFirst().prefix { $0 != quote }, as: UTF8.self).lowercased()
        guard encodings.contains(name) else {
            throw .excess(otherEncoding)
        }
    }

    private static func after(_ mark: String, in rest: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let mark = Array(mark.utf8)
        var index = rest.startIndex
        while index <= rest.endIndex - mark.count {
            if rest[index] == mark[0], rest[index..<(index + mark.count)].elementsEqual(mark) {
                return rest[(index + mark.count)...]
            }
            index += 1
        }
        return rest[rest.endIndex...]
    }
}
