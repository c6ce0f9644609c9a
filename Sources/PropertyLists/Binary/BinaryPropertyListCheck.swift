/// Checks the bytes of `BinaryPropertyListWriter` before they replace a file: the reader can read them, and they have
/// the form of this writer. In this form every byte belongs to one object, and each container has one reference, from a
/// container with a lower number. The next write relies on this form when it takes objects over.
///
/// Makes no texts, so it does not find a key that occurs twice. The writer writes dictionaries, which have no such key.
struct BinaryPropertyListCheck {
    private enum Object {
        /// A scalar with the length of a text or of data; 0 for other scalars.
        case scalar(bytes: Int, isText: Bool)
        /// A container with the number of containers around it; -1 until a reference to it is found.
        case container(levels: Int)
    }

    private let layout: BinaryPropertyListLayout
    private var objects: [Object] = []
    /// Where the references of the containers are, in the order of their objects.
    private var containers: [(object: Int, content: Int, keys: Int, references: Int)] = []
    private var nodes = 0
    private var contentBytes = 0
    private var lastContainer = -1

    static func check(_ bytes: UnsafeRawBufferPointer) throws(DecodingFailure) {
        var check = Self(layout: try BinaryPropertyListLayout(bytes))
        try check.findObjects()
        try check.meet(0, levels: 0)
        for container in check.containers { try check.follow(container) }
        try check.layout.checkExpansion(nodes: check.nodes, contentBytes: check.contentBytes)
    }

    private init(layout: BinaryPropertyListLayout) {
        self.layout = layout
    }

    // MARK: - Objects

    private mutating func findObjects() throws(DecodingFailure) {
        objects.reserveCapacity(layout.objectCount)
        var position = 8
        for object in 0..<layout.objectCount {
            guard try layout.offset(of: object) == position else { throw .malformed("an object in another place") }
            position = try addObject(at: position)
        }
        guard position == layout.tableStart, layout.topObject == 0 else {
            throw .malformed("bytes that belong to no object")
        }
    }

    /// - Returns: the end of the object.
    private mutating func addObject(at start: Int) throws(DecodingFailure) -> Int {
        let marker = layout.bytes[start]
        let size = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where [0x00, 0x08, 0x09].contains(marker): return try addScalar(at: start, bytes: 0)
        case 0x1 where size <= 3: return try addScalar(at: start, bytes: 1 << size)
        case 0x1 where size == 4:
            guard try layout.word(at: start + 1, size: 8) == 0 else {
                throw .unsupported("an integer of more than 64 bits")
            }
            return try addScalar(at: start, bytes: 16)
        case 0x2 where size == 3: return try addScalar(at: start, bytes: 8)
        case 0x3 where size == 3:
            guard Double(bitPattern: try layout.word(at: start + 1, size: 8)).isFinite else {
                throw .unsupported("a date that is not finite")
            }
            return try addScalar(at: start, bytes: 8)
        case 0x4: return try addContent(at: start, unit: 1, isText: false)
        case 0x5: return try addContent(at: start, unit: 1, isText: true)
        case 0x6: return try addContent(at: start, unit: 2, isText: true)
        case 0x8 where size < 8: return try addScalar(at: start, bytes: size + 1)
        case 0xA, 0xD:
            let (count, content) = try layout.countAndContent(at: start)
            let keys = marker >> 4 == 0xD ? count : 0
            try layout.require(keys + count, times: layout.referenceSize, at: content)
            containers.append((objects.count, content, keys, keys + count))
            objects.append(.container(levels: -1))
            return content + (keys + count) * layout.referenceSize
        default: throw .malformed("an object of unknown kind")
        }
    }

    private mutating func addScalar(at start: Int, bytes: Int) throws(DecodingFailure) -> Int {
        try layout.require(bytes, at: start + 1)
        objects.append(.scalar(bytes: 0, isText: false))
        return start + 1 + bytes
    }

    private mutating func addContent(at start: Int, unit: Int, isText: Bool) throws(DecodingFailure) -> Int {
        let (count, content) = try layout.countAndContent(at: start)
        try layout.require(count, times: unit, at: content)
        let end = content + count * unit
        if isText, unit == 1 { try layout.requireASCII(UnsafeRawBufferPointer(rebasing: layout.bytes[content..<end])) }
        objects.append(.scalar(bytes: count * unit, isText: isText))
        return end
    }

    // MARK: - References

    private mutating func follow(
        _ container: (object: Int, content: Int, keys: Int, references: Int)
    ) throws(DecodingFailure) {
        guard case .container(let levels) = objects[container.object], levels >= 0 else {
            throw .malformed("a container that belongs to none")
        }
        for part in 0..<container.references {
            let object = try layout.reference(at: container.content + part * layout.referenceSize)
            if part < container.keys {
                guard case .scalar(_, isText: true) = objects[object] else {
                    throw .malformed("a key that is not a string")
                }
            }
            try meet(object, levels: levels + 1)
        }
    }

    private mutating func meet(_ object: Int, levels: Int) throws(DecodingFailure) {
        nodes += 1
        switch objects[object] {
        case .scalar(let bytes, _): contentBytes += bytes
        case .container:
            // Containers are numbered level by level, and each has one reference, so none contains itself.
            guard object > lastContainer else { throw .malformed("a container in another place") }
            lastContainer = object
            objects[object] = .container(levels: levels)
        }
        guard levels <= PropertyListLimits.fileDepth else {
            throw .unsupported("nested deeper than \(PropertyListLimits.fileDepth) levels")
        }
    }
}
