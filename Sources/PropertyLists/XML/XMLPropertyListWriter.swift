import Foundation

/// The blanks between the parts of an XML text.
package struct XMLLayout {
    /// The end of a line, and the indentation of the outermost value; nil if all is on one line.
    private let lineEnd: [UInt8]?
    /// One step of indentation.
    private let step: [UInt8]
    /// What is between a key and its value; nil if the value has a line of its own.
    fileprivate let between: (StoredValue) -> [UInt8]?
    /// The most steps before a line of data.
    private var mostSteps = Int.max

    package init(lineEnd: [UInt8]?, step: [UInt8], between: @escaping (StoredValue) -> [UInt8]?) {
        (self.lineEnd, self.step, self.between) = (lineEnd, step, between)
    }

    /// The layout of Foundation, which does not indent the lines of data deeper than eight levels.
    fileprivate static var document: XMLLayout {
        var layout = XMLLayout(lineEnd: Array("\n".utf8), step: Array("\t".utf8)) { _ in nil }
        layout.mostSteps = 8
        return layout
    }

    fileprivate func startLine(_ depth: Int, in bytes: inout [UInt8]) {
        guard let lineEnd else { return }
        bytes += lineEnd
        for _ in 0..<depth { bytes += step }
    }

    /// What is before each line of data, and how many bytes such a line has: it ends at column 76, and a tab takes eight
    /// columns. nil if the data is on one line.
    fileprivate func linesOfData(_ depth: Int) -> (start: [UInt8], length: Int)? {
        if lineEnd == nil { return nil }
        var start: [UInt8] = []
        startLine(min(depth, mostSteps), in: &start)
        let columns = start.reduce(0) { $0 + ($1 == UInt8(ascii: "\t") ? 8 : $1 == 0x20 ? 1 : 0) }
        return (start, max(12, (76 - columns) / 4 * 4))
    }
}

/// Writes an XML property list that Foundation, Python's plistlib and libplist read as equal values, in every locale.
///
/// Rejects values that they would read differently: control characters, U+FFFE, U+FFFF, a leading U+FEFF, and years
/// outside of 1–9999. Indentation, order of keys and line breaks are as in Foundation. A number is written with the
/// fewest digits that read back as the number. Writes a value that it would reject if the replaced file has that value
/// in the same place, because this package reads it and nothing gets worse.
///
/// Works without recursion, because a thread may have a small stack.
package struct XMLPropertyListWriter {
    private let layout: XMLLayout
    /// The number of containers around the value.
    private let outerDepth: Int
    private var bytes: [UInt8] = []
    private var nodes = 0
    /// Whether the next part is on the line of its key.
    private var isBehindKey = false
    /// The containers around the current value, from the outside in.
    private var containers: [Container] = []

    private struct Container {
        /// The sorted keys of a dictionary.
        var keys: [String]?
        let values: [StoredValue]
        /// The elements of the container that the file has in this place, if it is of this kind.
        let formerElements: [StoredValue]
        let formerMembers: [String: StoredValue]
        /// The number of values that were begun.
        var begun = 0

        var step: String { keys.map { "." + $0[begun - 1] } ?? "[\(begun - 1)]" }
    }

    /// - Parameter former: the value that was read from the replaced file; nil if there is no such file.
    /// - Throws: `PropertyListFailure`.
    static func data(
        from value: StoredValue, replacing former: StoredValue? = nil
    ) throws(PropertyListFailure) -> Data {
        var writer = Self(layout: .document, outerDepth: 0)
        writer.bytes +=
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            """.utf8
        try writer.write(value, replacing: former)
        writer.bytes += "\n</plist>\n".utf8
        return Data(writer.bytes)
    }

    /// The element of a value inside of another text.
    ///
    /// - Parameter depth: the number of containers around it.
    package static func bytes(
        of value: StoredValue, replacing former: StoredValue?, layout: XMLLayout, depth: Int
    ) throws(PropertyListFailure) -> [UInt8] {
        var writer = Self(layout: layout, outerDepth: depth)
        try writer.write(value, replacing: former)
        return writer.bytes
    }

    package static func bytes(ofKey key: String) throws(PropertyListFailure) -> [UInt8] {
        var writer = Self(layout: .document, outerDepth: 0)
        try writer.write(key: key, isKept: false)
        return writer.bytes
    }

    private init(layout: XMLLayout, outerDepth: Int) { (self.layout, self.outerDepth) = (layout, outerDepth) }

    private mutating func write(_ value: StoredValue, replacing former: StoredValue?) throws(PropertyListFailure) {
        try begin(value, replacing: former)
        while !containers.isEmpty { try step() }
    }

    // MARK: - Values

    /// Writes a scalar, or begins a container.
    private mutating func begin(_ value: StoredValue, replacing former: StoredValue?) throws(PropertyListFailure) {
        let depth = containers.count
        nodes += 1
        // A reference of a keyed archive is a dictionary in XML, and its number is a level deeper.
        let levels = if case .uid = value { depth + 1 } else { depth }
        guard outerDepth + levels <= PropertyListLimits.fileDepth else {
            throw failure("nested deeper than \(PropertyListLimits.fileDepth) levels")
        }
        guard nodes <= PropertyListLimits.fileNodes else {
            throw failure("more than \(PropertyListLimits.fileNodes) values")
        }
        switch value {
        case .string(let text):
            line("<string>", depth)
            try write(text, isKept: value == former)
            bytes += "</string>".utf8
        case .bool(let bool): line(bool ? "<true/>" : "<false/>", depth)
        case .integer(let value): line("<integer>\(value)</integer>", depth)
        case .unsigned(let value): line("<integer>\(value)</integer>", depth)
        case .real(let value): line(Self.text(of: value), depth)
        case .decimal(let text): line(Self.text(of: Double(text) ?? .nan), depth)
        case .date(let date): line("<date>\(try text(of: date, isKept: value == former))</date>", depth)
        case .data(let data): write(data, depth: depth)
        case .array(let elements): begin(elements, replacing: former?.array)
        case .dictionary(let dictionary): try begin(dictionary, replacing: former?.dictionary)
        case .foreign, .null: throw failure("an object that no property list can hold")
        case .uid(let uid):
            guard uid.value <= UInt64(UInt32.max) else {
                throw failure("a reference of a keyed archive beyond 32 bits cannot be stored in XML")
            }
            line("<dict>", depth)
            try write(key: KeyedArchiveUID.key, isKept: false, before: .integer(0), depth + 1)
            line("<integer>\(uid.value)</integer>", depth + 1)
            line("</dict>", depth)
        }
    }

    private mutating func begin(_ array: [StoredValue], replacing former: [StoredValue]?) {
        guard !array.isEmpty else { return line("<array/>", containers.count) }
        line("<array>", containers.count)
        containers.append(Container(values: array, formerElements: former ?? [], formerMembers: [:]))
    }

    private mutating func begin(
        _ dictionary: [String: StoredValue], replacing former: [String: StoredValue]?
    ) throws(PropertyListFailure) {
        guard !dictionary.isEmpty else { return line("<dict/>", containers.count) }
        if dictionary.count == 1, dictionary[KeyedArchiveUID.key]?.isNumber == true {
            throw failure("a dictionary of a lone number CF$UID would be read as a reference of a keyed archive")
        }
        line("<dict>", containers.count)
        let sorted = dictionary.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
        containers.append(
            Container(
                keys: sorted.map(\.key), values: sorted.map(\.value), formerElements: [],
                formerMembers: former ?? [:]))
    }

    /// Writes the next part of the innermost container, or ends it.
    private mutating func step() throws(PropertyListFailure) {
        let last = containers.count - 1
        let container = containers[last]
        let index = container.begun
        guard index < container.values.count else {
            containers.removeLast()
            return line(container.keys == nil ? "</array>" : "</dict>", last)
        }
        containers[last].begun += 1
        var former = index < container.formerElements.count ? container.formerElements[index] : nil
        if let key = container.keys?[index] {
            former = container.formerMembers[key]
            try write(key: key, isKept: former != nil, before: container.values[index], last + 1)
        }
        try begin(container.values[index], replacing: former)
    }

    private mutating func write(_ data: Data, depth: Int) {
        line("<data>", depth)
        let text = Array(data.base64EncodedData())
        if let lines = layout.linesOfData(depth) {
            for start in stride(from: 0, to: text.count, by: lines.length) {
                bytes += lines.start
                bytes += text[start..<min(start + lines.length, text.count)]
            }
        } else {
            bytes += text
        }
        line("</data>", depth)
    }

    // MARK: - Texts

    /// Writes a text in the next line, or behind its key.
    private mutating func line(_ content: String, _ depth: Int) {
        if !isBehindKey, !bytes.isEmpty { layout.startLine(depth, in: &bytes) }
        isBehindKey = false
        bytes += content.utf8
    }

    private mutating func write(
        key: String, isKept: Bool, before value: StoredValue? = nil, _ depth: Int = 0
    ) throws(PropertyListFailure) {
        line("<key>", depth)
        try write(key, isKept: isKept)
        bytes += "</key>".utf8
        guard let blanks = value.flatMap(layout.between) else { return }
        bytes += blanks
        isBehindKey = true
    }

    private mutating func write(_ text: String, isKept: Bool) throws(PropertyListFailure) {
        // Foundation drops a leading U+FEFF as a byte order mark.
        if !isKept, text.utf8.first == 0xEF, text.unicodeScalars.first == "\u{FEFF}" {
            throw failure("a string that begins with U+FEFF cannot be stored in XML")
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            // Most parsers read a raw carriage return as a line feed.
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"): bytes.append(byte)
            case 0..<0x20 where !isKept:
                let code = String(byte, radix: 16, uppercase: true)
                throw failure("the control character U+00\(code.count == 1 ? "0" : "")\(code) cannot be stored in XML")
            case 0xBE...0xBF where !isKept:
                bytes.append(byte)
                if bytes.suffix(3).starts(with: [0xEF, 0xBF]) {
                    throw failure("the character U+FFF\(byte == 0xBE ? "E" : "F") cannot be stored in XML")
                }
            default: bytes.append(byte)
            }
        }
    }

    private static func text(of value: Double) -> String {
        if value.isNaN { return "<real>nan</real>" }
        if value.isInfinite { return value < 0 ? "<real>-infinity</real>" : "<real>+infinity</real>" }
        // Swift's own text does not depend on the locale.
        return "<real>\(value.description)</real>"
    }

    /// The second that contains the date.
    private func text(of date: Date, isKept: Bool) throws(PropertyListFailure) -> String {
        guard let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) else {
            throw failure("the date cannot be stored in XML")
        }
        let time = UTCTime(secondsSince1970: seconds)
        guard isKept || (1...9_999).contains(time.year) else {
            throw failure("a date outside of the years 1 to 9999 cannot be stored in XML")
        }
        return time.text + "Z"
    }

    private func failure(_ reason: String) -> PropertyListFailure {
        let key = containers.first.flatMap { $0.keys?[$0.begun - 1] } ?? ""
        return PropertyListFailure(path: path, topLevelKey: key, reason: reason)
    }

    private var path: String {
        let steps = containers.map(\.step).joined()
        // Drops bytes, because a combining mark may follow the dot.
        return steps.utf8.first == UInt8(ascii: ".") ? String(decoding: steps.utf8.dropFirst(), as: UTF8.self) : steps
    }
}
