import Foundation

/// Reads a binary property list of any origin, also a damaged one, on which Foundation's parser may crash. Checks every
/// offset, count and reference before it follows one, and limits what shared references add up to.
///
/// Works without recursion, which would take up to 3 KB per level in a debug build. Secondary threads have 512 KB.
struct BinaryPropertyListReader {
    private let layout: BinaryPropertyListLayout
    private var nodes = 0
    /// Bytes of texts and data, counted each time they are met.
    private var contentBytes = 0
    /// The scalars that were read, by object. Many references may lead to one long text.
    private var scalars: [Scalar?]
    /// The containers whose content is being read, by object.
    private var isOpen: [Bool]
    /// Those containers, from the outside in.
    private var containers: [Container] = []
    private var top: StoredValue?
    /// Why writing the value back would lose something; nil if nothing would be lost.
    private var loss: String?

    private struct Scalar {
        let value: StoredValue
        /// The length of a text or of data; 0 for other values.
        var bytes = 0
    }

    private struct Container {
        let object: Int
        /// The start of its references: first to the keys, then to the values.
        let content: Int
        let isDictionary: Bool
        /// The number of references.
        let count: Int
        var read = 0
        var keys: [String] = []
        var values: [StoredValue] = []

        var isAtKey: Bool { isDictionary && read < count / 2 }

    }

    /// - Returns: the value, and why writing it back would lose something; nil if nothing would be lost.
    static func value(
        in bytes: UnsafeRawBufferPointer
    ) throws(PropertyListFault) -> (value: StoredValue, loss: String?) {
        let layout = try BinaryPropertyListLayout(bytes)
        var reader = Self(layout)
        try reader.read(layout.topObject)
        while !reader.containers.isEmpty { try reader.step() }
        guard let top = reader.top else { throw .malformed("holds no value") }
        return (top, reader.loss)
    }

    private init(_ layout: BinaryPropertyListLayout) {
        self.layout = layout
        scalars = Array(repeating: nil, count: layout.objectCount)
        isOpen = Array(repeating: false, count: layout.objectCount)
    }

    // MARK: - Containers

    /// Reads the next part of the innermost container, or closes it.
    private mutating func step() throws(PropertyListFault) {
        let last = containers.count - 1
        let part = containers[last].read
        if part == containers[last].count {
            let container = containers.removeLast()
            isOpen[container.object] = false
            return add(try value(of: container))
        }
        let object = try layout.reference(at: containers[last].content + part * layout.referenceSize)
        let isAtKey = containers[last].isAtKey
        if isAtKey {
            guard try layout.isText(object) else { throw .malformed("a key that is not a string") }
        }
        try read(object)
        if isAtKey, let key = containers[last].keys.last, !StreamSafeText.isSafe(key) {
            throw .unsupported(StreamSafeText.reason)
        }
    }

    private mutating func value(of container: Container) throws(PropertyListFault) -> StoredValue {
        guard container.isDictionary else { return .array(container.values) }
        var collector = DictionaryCollector()
        collector.reserveCapacity(container.keys.count)
        for (key, value) in zip(container.keys, container.values) where !collector.add(key, value, .firstCounts) {
            throw .malformed("the key \(DictionaryCollector.quoted(key)) occurs twice")
        }
        loss = loss ?? collector.loss
        return .dictionary(collector.members)
    }

    private mutating func add(_ value: StoredValue) {
        guard let last = containers.indices.last else {
            top = value
            return
        }
        defer { containers[last].read += 1 }
        if containers[last].isAtKey, case .string(let key) = value {
            containers[last].keys.append(key)
        } else {
            containers[last].values.append(value)
        }
    }

    private mutating func read(_ object: Int) throws(PropertyListFault) {
        nodes += 1
        guard containers.count <= PropertyListLimits.fileDepth else {
            throw .unsupported("nested deeper than \(PropertyListLimits.fileDepth) levels")
        }
        try layout.checkExpansion(nodes: nodes, contentBytes: contentBytes)
        if let scalar = scalars[object] { return try add(scalar) }
        let start = try layout.offset(of: object)
        let kind = layout.bytes[start] >> 4
        guard kind == 0xA || kind == 0xD else {
            let scalar = try scalar(at: start)
            scalars[object] = scalar
            return try add(scalar)
        }
        guard !isOpen[object] else { throw .malformed("a container that contains itself") }
        let (count, content) = try layout.countAndContent(at: start)
        let isDictionary = kind == 0xD
        let references = isDictionary ? 2 * count : count
        try layout.require(references, times: layout.referenceSize, at: content)
        isOpen[object] = true
        containers.append(
            Container(object: object, content: content, isDictionary: isDictionary, count: references))
    }

    private mutating func add(_ scalar: Scalar) throws(PropertyListFault) {
        contentBytes += scalar.bytes
        try layout.checkExpansion(nodes: nodes, contentBytes: contentBytes)
        add(scalar.value)
    }

    // MARK: - Scalars

    private mutating func scalar(at start: Int) throws(PropertyListFault) -> Scalar {
        let marker = layout.bytes[start]
        let size = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x00:
            return Scalar(value: .null)
        case 0x0 where marker == 0x08 || marker == 0x09:
            return Scalar(value: .bool(marker == 0x09))
        case 0x1 where size <= 4:
            return Scalar(value: try integer(at: start + 1, size: 1 << size))
        case 0x2 where size == 2:
            let bits = UInt32(truncatingIfNeeded: try layout.word(at: start + 1, size: 4))
            return Scalar(value: StoredValue(Double(Float(bitPattern: bits))))
        case 0x2 where size == 3:
            return Scalar(value: StoredValue(Double(bitPattern: try layout.word(at: start + 1, size: 8))))
        case 0x3 where size == 3:
            let interval = Double(bitPattern: try layout.word(at: start + 1, size: 8))
            guard interval.isFinite else { throw .unsupported("a date that is not finite") }
            return Scalar(value: .date(Date(timeIntervalSinceReferenceDate: interval)))
        case 0x4:
            let content = try layout.content(at: start)
            return Scalar(value: .data(Data(content)), bytes: content.count)
        case 0x5, 0x6:
            let (text, bytes, isRepaired) = try layout.text(at: start)
            if isRepaired { loss = loss ?? "a string has an unpaired surrogate, which a write would replace" }
            return Scalar(value: .string(text), bytes: bytes)
        case 0x8 where size < 8:
            return Scalar(value: .uid(KeyedArchiveUID(value: try layout.word(at: start + 1, size: size + 1))))
        default:
            throw .malformed("an object of unknown kind")
        }
    }

    /// An integer of up to four bytes is unsigned, one of eight bytes is signed, and one of sixteen bytes is unsigned.
    private func integer(at start: Int, size: Int) throws(PropertyListFault) -> StoredValue {
        guard size == 16 else {
            return .integer(Int64(bitPattern: try layout.word(at: start, size: size)))
        }
        guard try layout.word(at: start, size: 8) == 0 else { throw .unsupported("an integer of more than 64 bits") }
        return StoredValue(try layout.word(at: start + 8, size: 8))
    }
}
