import Foundation

/// Reads a binary property list of whatever origin. Foundation's parser crashes and explodes on hostile ones: here
/// everything that is followed leads somewhere, is of a kind that stands there, and ends.
///
/// Without recursion, which takes up to 3 KB a level where nothing is optimized, and second threads have 512 KB.
struct BinaryPropertyListReader {
    typealias Flaw = PropertyListCoder.Flaw

    private let layout: BinaryPropertyListLayout
    private var nodes = 0
    /// Bytes of texts and data, counted each time they are met.
    private var contentBytes = 0
    /// By object: a scalar that was read. Many references may lead to one long text.
    private var scalars: [Scalar?]
    /// By object: a container whose content is being read.
    private var isOpen: [Bool]
    /// Those containers, from the outside in.
    private var containers: [Container] = []
    private var top: Any?
    private var hasForeign = false

    private struct Scalar {
        let value: Any
        /// Of a text or of data; 0 for others.
        var bytes = 0
    }

    private struct Container {
        let object: Int
        /// Where its references stand: those of the keys, then those of the values.
        let content: Int
        let isDictionary: Bool
        /// Of the references.
        let count: Int
        var read = 0
        var keys: [String] = []
        var values: [Any] = []

        var isAtKey: Bool { isDictionary && read < count / 2 }

        var value: Any {
            isDictionary ? Dictionary(zip(keys, values)) { first, _ in first } : values
        }
    }

    /// The value in canonical form; nil where the list is good, but has an object in it (the UID of a keyed archive) that
    /// only Foundation can make.
    static func value(in bytes: UnsafeRawBufferPointer) throws(Flaw) -> Any? {
        let layout = try BinaryPropertyListLayout(bytes)
        var reader = Self(layout)
        try reader.read(layout.topObject)
        while !reader.containers.isEmpty { try reader.step() }
        return reader.hasForeign ? nil : reader.top
    }

    private init(_ layout: BinaryPropertyListLayout) {
        self.layout = layout
        scalars = Array(repeating: nil, count: layout.objectCount)
        isOpen = Array(repeating: false, count: layout.objectCount)
    }

    // MARK: - Containers

    /// Reads the next part of the innermost container, or closes it.
    private mutating func step() throws(Flaw) {
        let last = containers.count - 1
        let part = containers[last].read
        if part == containers[last].count {
            let container = containers.removeLast()
            isOpen[container.object] = false
            return add(container.value)
        }
        let object = try layout.reference(at: containers[last].content + part * layout.referenceSize)
        if containers[last].isAtKey {
            guard try layout.isText(object) else { throw .damage("a key that is no text") }
        }
        try read(object)
    }

    private mutating func add(_ value: Any) {
        guard let last = containers.indices.last else {
            top = value
            return
        }
        if containers[last].isAtKey, let key = value as? String {
            containers[last].keys.append(key)
        } else {
            containers[last].values.append(value)
        }
        containers[last].read += 1
    }

    private mutating func read(_ object: Int) throws(Flaw) {
        nodes += 1
        guard containers.count <= PropertyListLimits.fileDepth else {
            throw .excess("nested deeper than \(PropertyListLimits.fileDepth) levels")
        }
        guard nodes <= PropertyListLimits.fileNodes else {
            throw .excess("expands to more than \(PropertyListLimits.fileNodes) values")
        }
        guard nodes <= layout.byteCount + PropertyListLimits.sharedNodes else {
            throw .excess("expands to more than \(PropertyListLimits.sharedNodes) shared values")
        }
        if let scalar = scalars[object] { return try add(scalar) }
        let start = try layout.offset(of: object)
        let kind = layout.bytes[start] >> 4
        guard kind == 0xA || kind == 0xD else {
            let scalar = try scalar(at: start)
            scalars[object] = scalar
            return try add(scalar)
        }
        guard !isOpen[object] else { throw .damage("a container that holds itself") }
        let (count, content) = try layout.countAndContent(at: start)
        let isDictionary = kind == 0xD
        let references = isDictionary ? 2 * count : count
        try layout.require(references, times: layout.referenceSize, at: content)
        isOpen[object] = true
        containers.append(
            Container(object: object, content: content, isDictionary: isDictionary, count: references))
    }

    private mutating func add(_ scalar: Scalar) throws(Flaw) {
        contentBytes += scalar.bytes
        guard contentBytes <= layout.byteCount + PropertyListLimits.sharedBytes else {
            throw .excess("expands to more than \(PropertyListLimits.sharedBytes >> 20) MiB of shared texts and data")
        }
        add(scalar.value)
    }

    // MARK: - Scalars

    private mutating func scalar(at start: Int) throws(Flaw) -> Scalar {
        let marker = layout.bytes[start]
        let size = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09:
            return Scalar(value: marker == 0x09)
        case 0x1 where size <= 4:
            return Scalar(value: try integer(at: start + 1, size: 1 << size).object)
        case 0x2 where size == 2:
            let bits = UInt32(truncatingIfNeeded: try layout.word(at: start + 1, size: 4))
            return Scalar(value: CanonicalNumber(Double(Float(bitPattern: bits))).object)
        case 0x2 where size == 3:
            return Scalar(value: CanonicalNumber.double(try layout.word(at: start + 1, size: 8)).object)
        case 0x3 where size == 3:
            let interval = Double(bitPattern: try layout.word(at: start + 1, size: 8))
            guard interval.isFinite else { throw .damage("a date that is not finite") }
            return Scalar(value: Date(timeIntervalSinceReferenceDate: interval))
        case 0x4:
            let content = try layout.content(at: start)
            return Scalar(value: Data(content), bytes: content.count)
        case 0x5:
            let content = try layout.content(at: start)
            guard content.allSatisfy({ $0 < 0x80 }) else { throw .damage("an ASCII text that is not ASCII") }
            return Scalar(value: String(decoding: content, as: UTF8.self), bytes: content.count)
        case 0x6:
            let content = try layout.content(at: start, unit: 2)
            let units = stride(from: 0, to: content.count, by: 2).map {
                UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
            }
            return Scalar(value: String(decoding: units, as: UTF16.self), bytes: content.count)
        case 0x8 where size < 8:
            try layout.require(size + 1, at: start + 1)
            hasForeign = true
            return Scalar(value: false)
        default:
            throw .damage("an object of unknown kind")
        }
    }

    /// Of up to four bytes without a sign, of eight with one, of sixteen without.
    private func integer(at start: Int, size: Int) throws(Flaw) -> CanonicalNumber {
        guard size == 16 else {
            return .integer(Int64(bitPattern: try layout.word(at: start, size: size)))
        }
        guard try layout.word(at: start, size: 8) == 0 else { throw .damage("an integer of more than 64 bits") }
        return CanonicalNumber(try layout.word(at: start + 8, size: 8))
    }
}
