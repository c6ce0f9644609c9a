package import Foundation

/// Reads the JSON of ``ExportFormat/json``, from anybody: in time linear in the bytes, on a stack of constant depth.
package struct JSONReader {
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A list or an object that has begun and not ended.
    private struct Container {
        let start: Int
        let isObject: Bool
        var elements: [Any] = []
        var members: [String: Any] = [:]
        /// The key of the member whose value comes next.
        var key: String?

        /// The step of a path to what is being read in it.
        var step: String {
            guard isObject else { return "[\(elements.count)]" }
            return key.map { "." + ShownText.key($0) } ?? ""
        }
    }

    let bytes: UnsafeRawBufferPointer
    var position = 0
    private var containers: [Container] = []
    /// Bytes that the values may yet take.
    private var budget: Int

    /// The root, a form in it and the object that is that form's stand around what a value may nest.
    private static let deepest = PropertyListLimits.depth + 2

    /// The value that the bytes hold.
    ///
    /// - Parameter budget: for the values, in bytes of a binary property list; some forms take four times as much.
    /// - Throws: `DecodingFailure.malformed`, with a line and a column.
    package static func value(of data: Data, budget: Int = 4 * PropertyListLimits.rootBytes) throws(DecodingFailure)
        -> Any
    {
        try data.withBytes { bytes throws(DecodingFailure) in
            try value(of: bytes, budget: budget)
        }
    }

    static func value(of bytes: UnsafeRawBufferPointer, budget: Int = .max) throws(DecodingFailure) -> Any {
        var reader = JSONReader(bytes, budget: budget)
        return try reader.read()
    }

    private init(_ bytes: UnsafeRawBufferPointer, budget: Int) {
        self.bytes = bytes
        self.budget = budget
        if bytes.starts(with: Self.byteOrderMark) { position = 3 }
    }

    private mutating func read() throws(DecodingFailure) -> Any {
        while true {
            guard var value = try readValueOrBeginning() else { continue }
            while !containers.isEmpty, let container = try readEnd(after: value) { value = container }
            guard containers.isEmpty else { continue }
            skipBlanks()
            guard current == nil else { throw flaw("unexpected text after the value") }
            return value
        }
    }

    // MARK: - Containers

    /// nil if a container has begun. Its first part comes next.
    private mutating func readValueOrBeginning() throws(DecodingFailure) -> Any? {
        skipBlanks()
        try charge(9)
        switch current {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            guard containers.count < Self.deepest else {
                throw flaw("nested deeper than \(PropertyListLimits.depth) levels")
            }
            let isObject = current == UInt8(ascii: "{")
            containers.append(Container(start: position, isObject: isObject))
            position += 1
            skipBlanks()
            if current == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return try endContainer() }
            if isObject { try readKey() }
            return nil
        case UInt8(ascii: "\""):
            return try readText()
        case let byte? where byte == UInt8(ascii: "-") || Self.digits.contains(byte):
            return try readNumber()
        default:
            if takes("true") { return true }
            if takes("false") { return false }
            if takes("null") { throw flaw("null cannot be stored in a property list; leave it out", at: position - 4) }
            throw flaw("expected a value")
        }
    }

    /// Puts a value into its container.
    /// - Returns: the container if it ends there; nil if another value follows.
    private mutating func readEnd(after value: Any) throws(DecodingFailure) -> Any? {
        skipBlanks()
        let index = containers.count - 1
        let isObject = containers[index].isObject
        if let key = containers[index].key {
            containers[index].members[key] = value
            containers[index].key = nil
        } else {
            containers[index].elements.append(value)
        }
        switch current {
        case UInt8(ascii: ","):
            position += 1
            skipBlanks()
            if isObject { try readKey() }
            return nil
        case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
            return try endContainer()
        default:
            throw flaw(isObject ? "expected , or }" : "expected , or ]")
        }
    }

    private mutating func readKey() throws(DecodingFailure) {
        let start = position
        guard current == UInt8(ascii: "\"") else { throw flaw("expected a key in quotes") }
        let key = try readText()
        guard StreamSafeText.isSafe(key) else { throw flaw(StreamSafeText.reason, at: start) }
        let index = containers.count - 1
        containers[index].key = key
        guard containers[index].members.index(forKey: key) == nil else {
            throw flaw("the key occurs twice", at: start)
        }
        skipBlanks()
        guard current == UInt8(ascii: ":") else { throw flaw("expected :") }
        position += 1
    }

    private mutating func endContainer() throws(DecodingFailure) -> Any {
        position += 1
        let container = containers.removeLast()
        guard container.isObject else { return container.elements }
        guard container.members.count == 1, let (key, value) = container.members.first, JSONForm.isMarked(key) else {
            return container.members
        }
        do {
            return try JSONForm.value(of: key, value)
        } catch {
            throw flaw(error.reason, at: container.start)
        }
    }

    // MARK: - Bytes

    static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func takes(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    mutating func charge(_ count: Int) throws(DecodingFailure) {
        budget -= count
        guard budget >= 0 else {
            throw flaw("larger than \(PropertyListLimits.rootBytes >> 20) MiB")
        }
    }

    /// The problem with line and column (in characters of Unicode), and the path of the value that was being read.
    func flaw(_ reason: String, at offset: Int? = nil) -> DecodingFailure {
        let offset = offset ?? position
        let before = bytes[..<offset]
        let lineStart = (before.lastIndex(of: 0x0A) ?? -1) + 1
        let line = before.reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        let column = before[lineStart...].reduce(1) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        let steps = containers.map(\.step).joined()
        // Joins bytes, because a combining mark may follow the dot.
        let path = ShownText.path(
            steps.utf8.first == UInt8(ascii: ".") ? String(decoding: steps.utf8.dropFirst(), as: UTF8.self) : steps)
        let reason = offset == bytes.count && current == nil ? "\(reason) before the end of the data" : reason
        return .malformed(
            PropertyListFault(reason: reason + (path.isEmpty ? "" : " (at \(path))"), line: line, column: column))
    }
}
