/// The layout of a binary property list: a magic, objects, a table of their offsets, and a trailer of 32 bytes. Nothing
/// outside of these is read.
struct BinaryPropertyListLayout {
    static let magic = Array("bplist".utf8)

    let bytes: UnsafeRawBufferPointer
    let objectCount: Int
    let topObject: Int
    let referenceSize: Int
    private let offsetSize: Int
    let tableStart: Int

    var byteCount: Int { bytes.count }

    init(_ bytes: UnsafeRawBufferPointer) throws(PropertyListFault) {
        self.bytes = bytes
        guard bytes.count >= 8 + 1 + 1 + 32, bytes.starts(with: Self.magic), bytes[6] == UInt8(ascii: "0")
        else {
            throw .malformed("too short for a binary property list, or of an unknown version")
        }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Int(exactly: Self.word(bytes, at: trailer + 8, size: 8)),
            let top = Int(exactly: Self.word(bytes, at: trailer + 16, size: 8)),
            let table = Int(exactly: Self.word(bytes, at: trailer + 24, size: 8)),
            count >= 1, count <= bytes.count, top < count, table >= 9, table <= trailer,
            count <= (trailer - table) / offsetSize
        else { throw .malformed("the trailer of the binary property list is wrong") }
        // The reader allocates memory for each object, also for objects without a reference.
        guard count <= PropertyListLimits.fileNodes else {
            throw .unsupported("has more than \(PropertyListLimits.fileNodes) objects")
        }
        objectCount = count
        topObject = top
        tableStart = table
        for object in 0..<count { _ = try offset(of: object) }
    }

    // MARK: - Objects

    @inline(__always)
    func offset(of object: Int) throws(PropertyListFault) -> Int {
        let offset = Self.word(bytes, at: tableStart + object * offsetSize, size: offsetSize)
        guard offset >= 8, offset < UInt64(tableStart) else { throw .malformed("an offset outside the objects") }
        return Int(offset)
    }

    func isText(_ object: Int) throws(PropertyListFault) -> Bool {
        let kind = bytes[try offset(of: object)] >> 4
        return kind == 0x5 || kind == 0x6
    }

    @inline(__always)
    func reference(at position: Int) throws(PropertyListFault) -> Int {
        let object = Self.word(bytes, at: position, size: referenceSize)
        guard object < UInt64(objectCount) else { throw .malformed("a reference to an object that does not exist") }
        return Int(object)
    }

    /// The count of a container or run of bytes, and the start of its content.
    @inline(__always)
    func countAndContent(at start: Int) throws(PropertyListFault) -> (count: Int, content: Int) {
        let size = Int(bytes[start] & 0x0F)
        guard size == 0x0F else { return (size, start + 1) }
        try require(1, at: start + 1)
        let marker = bytes[start + 1]
        guard marker >> 4 == 0x1, marker & 0x0F <= 3 else { throw .malformed("a count that is not an integer") }
        let width = 1 << Int(marker & 0x0F)
        let count = try word(at: start + 2, size: width)
        guard count <= UInt64(bytes.count) else { throw .malformed("a count larger than the file") }
        return (Int(count), start + 2 + width)
    }

    /// The bytes of a text or of data.
    @inline(__always)
    func content(at start: Int, unit: Int = 1) throws(PropertyListFault) -> UnsafeRawBufferPointer {
        let (count, content) = try countAndContent(at: start)
        try require(count, times: unit, at: content)
        return UnsafeRawBufferPointer(rebasing: bytes[content..<(content + count * unit)])
    }

    /// The text of a text object, and whether half of a surrogate pair was replaced in it.
    func text(at start: Int) throws(PropertyListFault) -> (text: String, bytes: Int, isRepaired: Bool) {
        guard bytes[start] >> 4 == 0x5 else {
            let units = try content(at: start, unit: 2)
            let (text, isRepaired) = BinaryPropertyListText.text(ofUTF16: units)
            return (text, units.count, isRepaired)
        }
        let content = try content(at: start)
        try requireASCII(content)
        return (String(decoding: content, as: UTF8.self), content.count, false)
    }

    func requireASCII(_ text: UnsafeRawBufferPointer) throws(PropertyListFault) {
        guard BinaryPropertyListText.isASCII(text) else { throw .malformed("an ASCII string with other characters") }
    }

    /// Throws if references to shared objects expand the list beyond the limits.
    ///
    /// - Parameters:
    ///   - nodes: the values met so far, shared ones counted each time.
    ///   - contentBytes: the bytes of texts and data among them.
    func checkExpansion(nodes: Int, contentBytes: Int) throws(PropertyListFault) {
        guard nodes <= PropertyListLimits.fileNodes else {
            throw .unsupported("expands to more than \(PropertyListLimits.fileNodes) values")
        }
        guard nodes <= byteCount + PropertyListLimits.sharedNodes else {
            throw .unsupported("expands to more than \(PropertyListLimits.sharedNodes) shared values")
        }
        guard contentBytes <= byteCount + PropertyListLimits.sharedBytes else {
            throw .unsupported(
                "expands to more than \(PropertyListLimits.sharedBytes >> 20) MiB of shared strings and data")
        }
    }

    // MARK: - Bytes

    /// Throws unless the bytes are before the table. The count is at most the size of the file.
    @inline(__always)
    func require(_ count: Int, times size: Int = 1, at position: Int) throws(PropertyListFault) {
        guard position <= tableStart, count * size <= tableStart - position else {
            throw .malformed("an object that extends beyond the objects")
        }
    }

    /// A big-endian integer before the table.
    @inline(__always)
    func word(at position: Int, size: Int) throws(PropertyListFault) -> UInt64 {
        try require(size, at: position)
        return Self.word(bytes, at: position, size: size)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, at position: Int, size: Int) -> UInt64 {
        // The sizes in almost all lists.
        switch size {
        case 1: return UInt64(bytes[position])
        case 2: return UInt64(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt16.self)))
        case 4: return UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        case 8: return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        default: break
        }
        var value: UInt64 = 0
        for index in 0..<size { value = value << 8 | UInt64(bytes[position + index]) }
        return value
    }
}
