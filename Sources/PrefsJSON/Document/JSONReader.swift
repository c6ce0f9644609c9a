package import Foundation
package import PrefsPropertyLists

/// Reads the JSON of ``ExportFormat/json`` from any origin, in time linear in the bytes, on a stack of constant depth.
/// A byte order mark at the beginning is skipped, because editors on Windows write one. So are comments (`//` and
/// `/* */`) and a comma after the last item, which people write.
package struct JSONReader {
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The limits of one reading.
    package struct Limits: Sendable {
        /// The most levels of containers.
        var depth: Int
        /// Additional levels: one for the object of a form and, in an import, one for the root, which is not part of a
        /// value.
        var extraDepth: Int
        /// The most values.
        var nodes = Int.max
        /// The most bytes of a binary property list with the values. In JSON, some forms take four times as much.
        var bytes = Int.max
        /// Whether the text stays beside the values: nulls are values then, and a number beyond all types is read as the
        /// nearest one.
        var isOfText = false
        /// Whether the outermost object is a dictionary in any case.
        var isOfFile = false
        /// Whether a number with more digits than a Double is read as `StoredValue.decimal`.
        var keepsDigits = false
        /// Whether objects that are forms are dictionaries, and a number that this package would write otherwise is a
        /// `StoredValue.decimal`, so that a plain writer gives the text again.
        var keepsSpelling = false
        /// Whether the last of two equal keys counts. Otherwise they are a failure.
        var lastKeyCounts = false

        /// The limits of one root, in an import or an argument.
        package static let root = Limits(
            depth: PropertyListLimits.depth, extraDepth: 2, bytes: 4 * PropertyListLimits.rootBytes)
        /// The limits of an import, in which a property decides how much of a number it takes.
        static let `import` = Limits(
            depth: PropertyListLimits.depth, extraDepth: 2, bytes: 4 * PropertyListLimits.rootBytes, keepsDigits: true)
        /// The limits of a file, which other programs may write.
        package static let file = Limits(
            depth: PropertyListLimits.fileDepth, extraDepth: 1, nodes: PropertyListLimits.fileNodes, isOfText: true,
            isOfFile: true, keepsDigits: true)
        /// The limits of one value in a file.
        static let value = file.with { $0.isOfFile = false }

        func with(_ change: (inout Limits) -> Void) -> Limits {
            var limits = self
            change(&limits)
            return limits
        }
    }

    let bytes: UnsafeRawBufferPointer
    var position = 0
    /// The lists and objects around the position.
    private var containers = ContainerStack()
    let texts: RecentTexts?
    /// The rest of the limits.
    private(set) var limits: Limits
    private let mostNodes: Int
    /// The key that stood twice first, and both lines, if the last one counts.
    private var repeated: String?

    /// The value that the bytes hold.
    ///
    /// - Throws: `PropertyListFault`, with a line and a column, which is unsupported for good JSON beyond a limit.
    package static func value(of data: Data, limits: Limits = .root) throws(PropertyListFault) -> StoredValue {
        try data.withBytes { bytes throws(PropertyListFault) in
            try value(of: bytes, limits: limits)
        }
    }

    static func value(of bytes: UnsafeRawBufferPointer, limits: Limits) throws(PropertyListFault) -> StoredValue {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw .malformed("expected JSON in UTF-8, found UTF-16")
        }
        var reader = JSONReader(bytes, limits: limits)
        do throws(PropertyListFault) { return try reader.read() } catch { throw reader.repetition() ?? error }
    }

    /// The value that most programs read of a file in which keys stand twice, and the first of these keys.
    ///
    /// - Returns: nil if no key stands twice, or if something else is wrong.
    package static func lenientValue(of data: Data) -> (value: StoredValue, repeated: String)? {
        try? data.withBytes { bytes throws(PropertyListFault) in
            var reader = JSONReader(bytes, limits: .file.with { $0.lastKeyCounts = true })
            let value = try reader.read()
            return reader.repeated.map { (value, $0) }
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer, limits: Limits) {
        self.bytes = bytes
        texts = RecentTexts(of: bytes)
        self.limits = limits
        mostNodes = limits.nodes
        if bytes.starts(with: Self.byteOrderMark) { position = 3 }
    }

    private mutating func read() throws(PropertyListFault) -> StoredValue {
        while true {
            guard var value = try readValueOrBeginning() else { continue }
            while containers.count > 0, let container = try readEnd(after: value) { value = container }
            guard containers.count == 0 else { continue }
            skipBlanks()
            guard current == nil else { throw missing("unexpected text after the value") }
            return value
        }
    }

    // MARK: - Containers

    /// Reads a value; returns nil if a container has begun. The first part of the container comes next.
    private mutating func readValueOrBeginning() throws(PropertyListFault) -> StoredValue? {
        skipBlanks()
        limits.nodes -= 1
        guard limits.nodes >= 0 else { throw excess("has more than \(mostNodes) values") }
        try charge(9)
        switch current {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            guard containers.count < limits.depth + limits.extraDepth else {
                throw excess("nested deeper than \(limits.depth) levels")
            }
            let isObject = current == UInt8(ascii: "{")
            containers.begin(isDictionary: isObject, at: position)
            position += 1
            skipBlanks()
            if current == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return try endContainer() }
            if isObject { try readKey() }
            return nil
        case UInt8(ascii: "\""):
            return .string(try readText())
        case let byte? where byte == UInt8(ascii: "-") || Self.digits.contains(byte):
            return try readNumber()
        case UInt8(ascii: "t") where takes("true"): return .bool(true)
        case UInt8(ascii: "f") where takes("false"): return .bool(false)
        case UInt8(ascii: "n") where takes("null"): return try readNull()
        default:
            let start = position
            // A word that is cut off may be completed by the program that writes it.
            if ["true", "false", "null"].contains(where: { $0.utf8.starts(with: bytes[start...]) }) {
                position = bytes.count
            }
            throw missing("expected a value", at: start)
        }
    }

    /// In an import, a member that is null is absent. It stays until its object has ended, so that a repeated key is
    /// found.
    private func readNull() throws(PropertyListFault) -> StoredValue {
        guard limits.isOfText || containers.isInDictionary else {
            throw flaw("null cannot be stored in a property list; leave it out", at: position - 4)
        }
        return .null
    }

    /// Puts a value into its container.
    /// - Returns: the container if it ends there; nil if another value follows.
    private mutating func readEnd(after value: StoredValue) throws(PropertyListFault) -> StoredValue? {
        skipBlanks()
        let isObject = containers.isInDictionary
        containers.add(value)
        switch current {
        case UInt8(ascii: ","):
            position += 1
            skipBlanks()
            // People leave a comma when they remove the last line.
            if current == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return try endContainer() }
            if isObject { try readKey() }
            return nil
        case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
            return try endContainer()
        default:
            throw missing(isObject ? "expected , or }" : "expected , or ]")
        }
    }

    private mutating func readKey() throws(PropertyListFault) {
        let start = position
        guard current == UInt8(ascii: "\"") else { throw missing("expected a key in quotes") }
        let key = try readText()
        guard StreamSafeText.isSafe(key) else { throw excess(StreamSafeText.reason, at: start) }
        containers.add(key, at: start)
        skipBlanks()
        guard current == UInt8(ascii: ":") else { throw missing("expected :") }
        position += 1
    }

    /// The failure for a key that occurs twice before the position.
    private mutating func repetition() -> PropertyListFault? {
        guard let repeated = containers.repeatedKey(allowsSpellings: false) else { return nil }
        // The data has not ended there.
        position = repeated.second
        return repeated.isOtherSpelling
            ? excess("the key occurs twice, in two spellings that differ only in Unicode normalization")
            : flaw("the key occurs twice, first in line \(line(at: repeated.first).number)")
    }

    private mutating func endContainer() throws(PropertyListFault) -> StoredValue {
        if limits.lastKeyCounts, let key = containers.removeRepeatedKeys(), repeated == nil {
            let (first, second) = (line(at: key.first).number, line(at: key.second).number)
            repeated =
                "`\(ShownText.key(key.key))` stands in line \(first) and in line \(second), and the last one counts"
        }
        guard let value = containers.end(allowsSpellings: false)?.value else {
            // The caller says which.
            throw flaw("a key occurs twice")
        }
        position += 1
        guard case .dictionary(var members) = value else { return value }
        if !limits.isOfText { members = members.withoutNulls }
        // The values at the top of a file are a dictionary, whatever their names are.
        let isPlain = limits.keepsSpelling || containers.count == 0 && limits.isOfFile
        return isPlain ? .dictionary(members) : JSONForm.value(ofObject: members)
    }

    // MARK: - Bytes

    static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// The current byte; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() { JSONBlanks.skip(&position, in: bytes) }

    private mutating func takes(_ word: StaticString) -> Bool {
        guard bytes[position...].starts(with: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    mutating func charge(_ count: Int) throws(PropertyListFault) {
        limits.bytes -= count
        guard limits.bytes >= 0 else {
            throw excess("larger than \(PropertyListLimits.rootBytes >> 20) MiB")
        }
    }

    // MARK: - Errors

    /// The failure for JSON that breaks the rules, or that has no property-list value.
    func flaw(_ reason: String, at offset: Int? = nil) -> PropertyListFault {
        fault(reason, at: offset ?? position)
    }

    /// The failure for something unexpected. Mentions other comments, which people write there.
    private func missing(_ reason: String, at offset: Int? = nil) -> PropertyListFault {
        flaw(current == UInt8(ascii: "#") ? "a comment begins with //; \(reason)" : reason, at: offset)
    }

    /// The failure for valid JSON, perhaps of another program, that exceeds a limit.
    private func excess(_ reason: String, at offset: Int? = nil) -> PropertyListFault {
        fault(reason, at: offset ?? position).unsupported
    }

    private func line(at offset: Int) -> (number: Int, start: Int) {
        var (line, lineStart) = (1, 0)
        while let start = bytes.baseAddress, let found = memchr(start + lineStart, 0x0A, offset - lineStart) {
            line += 1
            lineStart = UnsafeRawPointer(found) - start + 1
        }
        return (line, lineStart)
    }

    /// The problem with line and column (in characters of Unicode), and the path of the value that was being read.
    private func fault(_ reason: String, at offset: Int) -> PropertyListFault {
        let (line, lineStart) = line(at: offset)
        // The byte order mark is no character.
        var column = lineStart == 0 && bytes.starts(with: Self.byteOrderMark) && offset > 0 ? 0 : 1
        for byte in bytes[lineStart..<offset] where byte & 0xC0 != 0x80 { column += 1 }
        let steps = containers.steps.map { step in
            switch step {
            case .key(let key): "." + ShownText.key(key)
            case .index(let index): "[\(index)]"
            }
        }.joined()
        // Joins bytes, because a combining mark may follow the dot.
        let path = ShownText.path(
            steps.utf8.first == UInt8(ascii: ".") ? String(decoding: steps.utf8.dropFirst(), as: UTF8.self) : steps)
        let reason = offset == bytes.count && current == nil ? "\(reason) before the end of the data" : reason
        return PropertyListFault(
            reason: reason + (path.isEmpty ? "" : " (at \(path))"), line: line, column: column)
    }
}
