/// Checks the structure of a binary property list before Foundation's parser, which crashes and explodes on hostile
/// ones, sees it: everything it will follow leads somewhere, is of a kind that stands there, and ends.
///
/// The format: a magic, objects, a table of their offsets, and a trailer of 32 bytes.
struct BinaryPropertyListCheck {
    private typealias Flaw = PropertyListCoder.Flaw

    private let bytes: UnsafeRawBufferPointer
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let tableStart: Int
    private var nodes = 0
    /// Bytes of texts and data, counted each time they are met.
    private var contentBytes = 0
    /// By object: the content of a scalar that was found good, in bytes. Many references may lead to one long text.
    private var goodBytes: [Int?]
    /// By object: a container whose content is being visited.
    private var isOpen: [Bool]
    /// Those containers, from the outside in. A list of its own, since recursion takes 3 KB a level where nothing is
    /// optimized, and second threads have 512 KB.
    private var containers: [Container] = []

    private struct Container {
        let object: Int
        /// Where its references stand: those of the keys, then those of the values.
        let content: Int
        let keys: Int
        let count: Int
        var visited = 0
    }

    static func run(_ bytes: UnsafeRawBufferPointer) throws(PropertyListCoder.Flaw) {
        var check = try BinaryPropertyListCheck(bytes)
        try check.visit(check.topObject)
        while let container = check.containers.last {
            if container.visited == container.count {
                check.isOpen[container.object] = false
                check.containers.removeLast()
            } else {
                check.containers[check.containers.count - 1].visited += 1
                try check.visitPart(of: container)
            }
        }
    }

    private let topObject: Int

    private init(_ bytes: UnsafeRawBufferPointer) throws(Flaw) {
        self.bytes = bytes
        guard bytes.count >= 8 + 1 + 1 + 32, bytes.starts(with: "bplist0".utf8) else {
            throw .damage("too short for a binary property list, or of an unknown version")
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
        else { throw .damage("the trailer of the binary property list is wrong") }
        objectCount = count
        goodBytes = Array(repeating: nil, count: count)
        isOpen = Array(repeating: false, count: count)
        topObject = top
        tableStart = table
        for object in 0..<objectCount { _ = try offset(of: object) }
    }

    private mutating func visit(_ object: Int) throws(Flaw) {
        nodes += 1
        guard containers.count <= PropertyListLimits.fileDepth else {
            throw .excess("nested deeper than \(PropertyListLimits.fileDepth) levels")
        }
        guard nodes <= PropertyListLimits.fileNodes else {
            throw .excess("expands to more than \(PropertyListLimits.fileNodes) values")
        }
        guard nodes <= bytes.count + PropertyListLimits.sharedNodes else {
            throw .excess("expands to more than \(PropertyListLimits.sharedNodes) shared values")
        }
        if let bytes = goodBytes[object] { return try countContent(bytes) }
        let start = try offset(of: object)
        let kind = bytes[start] >> 4
        guard kind == 0xA || kind == 0xD else {
            let bytes = try checkScalar(at: start)
            goodBytes[object] = bytes
            return try countContent(bytes)
        }
        guard !isOpen[object] else { throw .damage("a container that holds itself") }
        let (count, content) = try countAndContent(at: start)
        let isDictionary = kind == 0xD
        try require(count, times: isDictionary ? 2 * referenceSize : referenceSize, at: content)
        isOpen[object] = true
        containers.append(
            Container(
                object: object, content: content, keys: isDictionary ? count : 0,
                count: isDictionary ? 2 * count : count))
    }

    private mutating func visitPart(of container: Container) throws(Flaw) {
        let object = try reference(at: container.content + container.visited * referenceSize)
        if container.visited < container.keys {
            let kind = bytes[try offset(of: object)] >> 4
            guard kind == 0x5 || kind == 0x6 else { throw .damage("a key that is no text") }
        }
        try visit(object)
    }

    private mutating func countContent(_ count: Int) throws(Flaw) {
        contentBytes += count
        guard contentBytes <= bytes.count + PropertyListLimits.sharedBytes else {
            throw .excess("expands to more than \(PropertyListLimits.sharedBytes >> 20) MiB of shared texts and data")
        }
    }

    /// - Returns: the bytes of a text or of data; 0 for others.
    private func checkScalar(at start: Int) throws(Flaw) -> Int {
        let marker = bytes[start]
        let size = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09:
            break
        case 0x1 where size <= 4:
            try require(1 << size, at: start + 1)
            if size == 4, !bytes[(start + 1)..<(start + 9)].allSatisfy({ $0 == 0 }) {
                throw .damage("an integer of more than 64 bits")
            }
        case 0x2 where size == 2 || size == 3:
            try require(1 << size, at: start + 1)
        case 0x3 where size == 3:
            try require(8, at: start + 1)
            let bits = (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[start + 1 + $1]) }
            guard Double(bitPattern: bits).isFinite else { throw .damage("a date that is not finite") }
        case 0x8 where size < 8:
            try require(size + 1, at: start + 1)
        case 0x4, 0x5, 0x6:
            return try checkBytes(at: start)
        default:
            throw .damage("an object of unknown kind")
        }
        return 0
    }

    private func checkBytes(at start: Int) throws(Flaw) -> Int {
        let (count, content) = try countAndContent(at: start)
        let kind = bytes[start] >> 4
        try require(count, times: kind == 0x6 ? 2 : 1, at: content)
        if kind == 0x5, !bytes[content..<(content + count)].allSatisfy({ $0 < 0x80 }) {
            throw .damage("an ASCII text that is not ASCII")
        }
        return kind == 0x6 ? 2 * count : count
    }

    // MARK: - Parts

    /// The count of a container or run of bytes, and where its content begins.
    private func countAndContent(at start: Int) throws(Flaw) -> (count: Int, content: Int) {
        let size = Int(bytes[start] & 0x0F)
        guard size == 0x0F else { return (size, start + 1) }
        try require(1, at: start + 1)
        let marker = bytes[start + 1]
        guard marker >> 4 == 0x1, marker & 0x0F <= 3 else { throw .damage("a count that is no integer") }
        let width = 1 << Int(marker & 0x0F)
        try require(width, at: start + 2)
        guard let count = Self.integer(bytes, at: start + 2, size: width), count <= bytes.count else {
            throw .damage("a count larger than the file")
        }
        return (count, start + 2 + width)
    }

    private func reference(at position: Int) throws(Flaw) -> Int {
        guard let object = Self.integer(bytes, at: position, size: referenceSize), object < objectCount else {
            throw .damage("a reference to an object that is not there")
        }
        return object
    }

    private func offset(of object: Int) throws(Flaw) -> Int {
        guard let offset = Self.integer(bytes, at: tableStart + object * offsetSize, size: offsetSize),
            offset >= 8, offset < tableStart
        else { throw .damage("an object outside the objects") }
        return offset
    }

    /// Throws unless so many bytes stand before the table.
    private func require(_ count: Int, times size: Int = 1, at position: Int) throws(Flaw) {
        guard position <= tableStart, count <= (tableStart - position) / size else {
            throw .damage("an object that runs out of its place")
        }
    }

    /// A big-endian integer, or nil where it has no place in an Int.
    private static func integer(_ bytes: UnsafeRawBufferPointer, at position: Int, size: Int) -> Int? {
        var value: UInt64 = 0
        for index in 0..<size { value = value << 8 | UInt64(bytes[position + index]) }
        return Int(exactly: value)
    }
}
