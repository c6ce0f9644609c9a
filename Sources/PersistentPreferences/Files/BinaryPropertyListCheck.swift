/// Checks the structure of a binary property list before Foundation's parser, which crashes and explodes on hostile
/// ones, sees it: everything it will follow leads somewhere, is of a kind that stands there, and ends.
///
/// The format: a magic, objects, a table of their offsets, and a trailer of 32 bytes.
struct BinaryPropertyListCheck {
    private typealias Damage = PropertyListCoder.Damage

    private let bytes: UnsafeRawBufferPointer
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let tableStart: Int
    private var nodes = 0
    private var contentBytes = 0

    static func run(_ bytes: UnsafeRawBufferPointer) throws(PropertyListCoder.Damage) {
        var check = try BinaryPropertyListCheck(bytes)
        try check.visit(check.topObject, depth: 1)
    }

    private let topObject: Int

    private init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        self.bytes = bytes
        guard bytes.count >= 8 + 1 + 1 + 32, bytes.starts(with: "bplist0".utf8) else {
            throw Damage(reason: "too short for a binary property list, or of an unknown version")
        }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.integer(bytes, at: trailer + 8, size: 8),
            let top = Self.integer(bytes, at: trailer + 16, size: 8),
            let table = Self.integer(bytes, at: trailer + 24, size: 8),
            count >= 1, count <= bytes.count, top < count, table >= 9, table <= trailer,
            count * offsetSize <= trailer - table
        else { throw Damage(reason: "the trailer of the binary property list is wrong") }
        objectCount = count
        topObject = top
        tableStart = table
        for object in 0..<objectCount { _ = try offset(of: object) }
    }

    private mutating func visit(_ object: Int, depth: Int) throws(Damage) {
        nodes += 1
        guard depth <= PropertyListLimits.fileDepth + 1 else {
            throw Damage(reason: "nested deeper than \(PropertyListLimits.fileDepth) levels, or without end")
        }
        guard nodes <= PropertyListLimits.fileNodes else {
            throw Damage(reason: "expands to more than \(PropertyListLimits.fileNodes) values")
        }
        let start = try offset(of: object)
        let marker = bytes[start]
        let size = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09:
            break
        case 0x1 where size <= 4:
            try require(1 << size, at: start + 1)
            if size == 4, !bytes[(start + 1)..<(start + 9)].allSatisfy({ $0 == 0 }) {
                throw Damage(reason: "an integer of more than 64 bits")
            }
        case 0x2 where size == 2 || size == 3:
            try require(1 << size, at: start + 1)
        case 0x3 where size == 3:
            try require(8, at: start + 1)
            let bits = (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[start + 1 + $1]) }
            guard Double(bitPattern: bits).isFinite else { throw Damage(reason: "a date that is not finite") }
        case 0x8 where size < 8:
            try require(size + 1, at: start + 1)
        case 0x4, 0x5, 0x6:
            try visitBytes(at: start)
        case 0xA:
            let (count, content) = try countAndContent(at: start)
            try require(count, times: referenceSize, at: content)
            for index in 0..<count {
                try visit(reference(at: content + index * referenceSize), depth: depth + 1)
            }
        case 0xD:
            let (count, content) = try countAndContent(at: start)
            try require(count, times: 2 * referenceSize, at: content)
            for index in 0..<count {
                let key = try reference(at: content + index * referenceSize)
                let kind = bytes[try offset(of: key)] >> 4
                guard kind == 0x5 || kind == 0x6 else { throw Damage(reason: "a key that is no text") }
                try visit(key, depth: depth + 1)
                try visit(reference(at: content + (count + index) * referenceSize), depth: depth + 1)
            }
        default:
            throw Damage(reason: "an object of unknown kind")
        }
    }

    private mutating func visitBytes(at start: Int) throws(Damage) {
        let (count, content) = try countAndContent(at: start)
        let kind = bytes[start] >> 4
        try require(count, times: kind == 0x6 ? 2 : 1, at: content)
        contentBytes += kind == 0x6 ? 2 * count : count
        guard contentBytes <= bytes.count + PropertyListLimits.sharedBytes else {
            throw Damage(
                reason: "expands to more than \(PropertyListLimits.sharedBytes >> 20) MiB of shared texts and data")
        }
        if kind == 0x5, !bytes[content..<(content + count)].allSatisfy({ $0 < 0x80 }) {
            throw Damage(reason: "an ASCII text that is not ASCII")
        }
    }

    // MARK: - Parts

    /// The count of a container or run of bytes, and where its content begins.
    private func countAndContent(at start: Int) throws(Damage) -> (count: Int, content: Int) {
        let size = Int(bytes[start] & 0x0F)
        guard size == 0x0F else { return (size, start + 1) }
        try require(1, at: start + 1)
        let marker = bytes[start + 1]
        guard marker >> 4 == 0x1, marker & 0x0F <= 3 else { throw Damage(reason: "a count that is no integer") }
        let width = 1 << Int(marker & 0x0F)
        try require(width, at: start + 2)
        guard let count = Self.integer(bytes, at: start + 2, size: width), count <= bytes.count else {
            throw Damage(reason: "a count larger than the file")
        }
        return (count, start + 2 + width)
    }

    private func reference(at position: Int) throws(Damage) -> Int {
        guard let object = Self.integer(bytes, at: position, size: referenceSize), object < objectCount else {
            throw Damage(reason: "a reference to an object that is not there")
        }
        return object
    }

    private func offset(of object: Int) throws(Damage) -> Int {
        guard let offset = Self.integer(bytes, at: tableStart + object * offsetSize, size: offsetSize),
            offset >= 8, offset < tableStart
        else { throw Damage(reason: "an object outside the objects") }
        return offset
    }

    /// Throws unless so many bytes stand before the table.
    private func require(_ count: Int, times size: Int = 1, at position: Int) throws(Damage) {
        guard position <= tableStart, count <= (tableStart - position) / size else {
            throw Damage(reason: "an object that runs out of its place")
        }
    }

    /// A big-endian integer, or nil where it has no place in an Int.
    private static func integer(_ bytes: UnsafeRawBufferPointer, at position: Int, size: Int) -> Int? {
        var value: UInt64 = 0
        for index in 0..<size { value = value << 8 | UInt64(bytes[position + index]) }
        return Int(exactly: value)
    }
}
