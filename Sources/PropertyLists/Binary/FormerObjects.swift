/// The objects of a list that `BinaryPropertyListWriter` has written, one after the other, in the order of their
/// numbers.
struct FormerObjects {
    private let layout: BinaryPropertyListLayout
    /// The start of each object, and the end of the last one.
    private var starts: [Int] = []
    /// The numbers of the objects in the new list; -1 for objects that are not in it so far.
    private var numbers: [Int32]
    private var searches = 0

    /// The most scalars that are searched one by one. For more it is cheaper to put all into the table.
    private static let mostSearches = 8

    init(_ bytes: UnsafeRawBufferPointer) throws(DecodingFailure) {
        layout = try BinaryPropertyListLayout(bytes)
        numbers = Array(repeating: -1, count: layout.objectCount)
        starts.reserveCapacity(layout.objectCount + 1)
        for object in 0..<layout.objectCount { starts.append(try layout.offset(of: object)) }
        starts.append(layout.tableStart)
        guard zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .malformed("objects in another order")
        }
    }

    var count: Int { numbers.count }

    /// The number of an object in the new list. Assigns the given number if it has none.
    mutating func number(of object: Int, orNew new: Int32) -> Int32 {
        let number = numbers[object]
        if number >= 0 { return number }
        numbers[object] = new
        return new
    }

    func bytes(of object: Int) -> Range<Int> { starts[object]..<starts[object + 1] }

    func isContainer(_ object: Int) -> Bool { layout.bytes[starts[object]] >= 0xA0 }

    // MARK: - Scalars

    /// The scalar that has these bytes; nil if it does not exist, or if all scalars are in the table.
    mutating func find(_ bytes: Range<Int>, in all: [UInt8], or table: inout ByteTable) -> Int? {
        searches += 1
        if searches <= Self.mostSearches {
            return numbers.indices.first {
                starts[$0 + 1] - starts[$0] == bytes.count && ByteTable.areEqual(self.bytes(of: $0), bytes, in: all)
            }
        }
        if searches == Self.mostSearches + 1 {
            table.reserve(2 * numbers.count, in: all)
            for object in numbers.indices where !isContainer(object) {
                _ = table.insert(self.bytes(of: object), Int32(-1 - object), in: all)
            }
        }
        return nil
    }

    /// The object for a negative number in the table.
    static func object(of number: Int32) -> Int { Int(-1 - number) }

    // MARK: - Containers

    /// The objects that a container refers to: the keys of a dictionary, and then its values.
    func parts(of object: Int) throws(DecodingFailure) -> (isDictionary: Bool, parts: [Int]) {
        let start = starts[object]
        let isDictionary = layout.bytes[start] >> 4 == 0xD
        let (count, content) = try layout.countAndContent(at: start)
        let references = isDictionary ? 2 * count : count
        try layout.require(references, times: layout.referenceSize, at: content)
        var parts: [Int] = []
        parts.reserveCapacity(references)
        for part in 0..<references { parts.append(try layout.reference(at: content + part * layout.referenceSize)) }
        return (isDictionary, parts)
    }

    /// The index of a key among sorted keys, or the index where it belongs.
    func place(of key: String, among keys: ArraySlice<Int>) throws(DecodingFailure) -> (index: Int, isFormer: Bool) {
        var (low, high) = (keys.startIndex, keys.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if try text(keys[middle]).precedes(key) { low = middle + 1 } else { high = middle }
        }
        guard low < keys.endIndex else { return (low, false) }
        return (low, try text(keys[low]).hasSameBytes(as: key))
    }

    private func text(_ object: Int) throws(DecodingFailure) -> String {
        try layout.text(at: starts[object]).text
    }
}
