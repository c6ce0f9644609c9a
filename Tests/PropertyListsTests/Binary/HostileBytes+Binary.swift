import Foundation
import PropertyListSupport

/// One row or more for each check of `BinaryPropertyListLayout` and `BinaryPropertyListReader`; `BinaryListReaderTests` has a key that
/// occurs twice. Each list is made here, in memory, and only this package reads it.
extension Bytes {
    static let refusedBinary: [Bytes] = [
        beginnings, trailers, offsets, kinds, references, keys, depths, expansions, scalars, counts, cutOff,
    ].flatMap { $0 }

    // MARK: - The layout

    /// A list of one value: the object at 8, the table at 9, the trailer at 10.
    private static let one = BinaryList([[0x09]]).data

    private static let beginnings: [Bytes] = [
        beginning("the magic alone", Data("bplist00".utf8)), beginning("a part of the magic", Data("bplist".utf8)),
        beginning("another version", Data("bplist15".utf8) + one.dropFirst(8)),
        beginning("one byte short", Data("bplist0".utf8) + one.dropFirst(8)),
        beginning("no object", one.prefix(8) + one.suffix(33)),
    ]

    private static func beginning(_ name: String, _ bytes: Data) -> Bytes {
        Bytes(name, bytes, "too short for a binary property list, or of an unknown version")
    }

    private static let wrongTrailers: [(position: Int, byte: UInt8)] = [
        // The sizes of an offset and of a reference.
        (6, 0), (6, 2), (6, 9), (6, 255), (7, 0), (7, 9), (7, 255),
        // The number of objects, the top, and the place of the table.
        (8, 0x7F), (8, 0xFF), (9, 1), (15, 0), (15, 2), (15, 255), (16, 0x7F), (16, 0x80), (23, 1), (24, 0x7F),
        (24, 0xFF), (30, 1), (31, 8), (31, 10), (31, 11), (31, 200),
    ]

    private static let trailers: [Bytes] =
        wrongTrailers.map {
            var bytes = one
            bytes[bytes.count - 32 + $0.position] = $0.byte
            return Bytes("trailer \($0)", bytes, "the trailer of the binary property list is wrong")
        } + [Bytes("a table of too many objects", table(of: 1 << 22 + 1), "has more than 4194304 objects")]

    /// A table whose offsets all lead to one object.
    private static func table(of count: Int) -> Data {
        var bytes = Data("bplist00".utf8) + [0x09] + Data(repeating: 8, count: count)
        bytes += [0, 0, 0, 0, 0, 0, 1, 8]
        for number in [count, 0, 9] { bytes += BinaryList.bytes(of: number) }
        return bytes
    }

    private static let offsets: [Bytes] =
        [0, 7, 10, 255, .max, .min, -1].map { (offset: Int) in
            var bytes = BinaryList([[0x09], [0x08]], offsetSize: 8).data
            bytes.replaceSubrange(18..<26, with: BinaryList.bytes(of: offset))
            return Bytes("offset \(offset)", bytes, "an offset outside the objects")
        }

    // MARK: - Objects

    /// Every marker that begins no object, with bytes after it.
    private static let kinds: [Bytes] = (0...255).filter { !isKnown($0) }.map {
        Bytes([[$0] + many(0, 20)], "an object of unknown kind")
    }

    private static func isKnown(_ marker: UInt8) -> Bool {
        switch marker {
        case 0x00, 0x08, 0x09, 0x10...0x14, 0x22, 0x23, 0x33, 0x40...0x6F, 0x80...0x87, 0xA0...0xAF, 0xD0...0xDF: true
        default: false
        }
    }

    private static let references: [Bytes] =
        [[0xA1, 2], [0xD1, 0xFF, 0], [0xD1, 1, 2]].map { Bytes([$0, [0x51, 0x61]], noObject) }
        + [Int.max, .min, -1].map { reference in
            let list = BinaryList([[0xA1] + BinaryList.bytes(of: reference)], referenceSize: 8)
            return Bytes("reference \(reference)", list.data, noObject)
        } + cycles.map { Bytes($0, "a container that contains itself") }

    private static let noObject = "a reference to an object that does not exist"

    private static let cycles: [[[UInt8]]] = [
        [[0xA1, 0]], [[0xA2, 1, 0], [0xA1, 0]], [[0xD1, 1, 0], [0x51, 0x61]], [[0xA1, 1], [0xA1, 2], [0xA1, 1]],
        [[0xAA] + many(0, 10)],
    ]

    private static let keys: [Bytes] =
        noKeys.map { Bytes([[0xD1, 1, 1], $0], "a key that is not a string") } + [
            Bytes([[0xD1, 0, 0]], "a key that is not a string"),
            // 31 times U+0303 behind a letter.
            Bytes(
                [[0xD1, 1, 1], [0x6F, 0x10, 32, 0, 0x61] + many(3, 62)],
                "a key has more than 30 combining marks in a row"),
        ]

    private static let noKeys: [[UInt8]] = [
        [0x09], [0x10, 5], [0x22] + many(0, 4), [0x33] + many(0, 8), [0x40], [0x80, 5], [0xA0], [0xD0], [0x70],
    ]

    private static let depths: [Bytes] = [82, 83, 255].map {
        Bytes("\($0) levels", BinaryList(levels($0)).data, "nested deeper than 80 levels")
    }

    /// A number of nested lists.
    static func levels(_ count: Int) -> [[UInt8]] {
        (1..<UInt8(count)).map { [0xA1, $0] } + [[0xA0]]
    }

    private static let expansions: [Bytes] = [
        expansion("9 levels", multiplying(9, [0x51, 0x61]), "262144 shared values"),
        expansion("70 levels", multiplying(70, [0x51, 0x61]), "262144 shared values"),
        expansion("long data", multiplying(5, longContent(0x4F, 0x7FFF)), "16 MiB of shared strings and data"),
        expansion("long ASCII", multiplying(5, longContent(0x5F, 0x7FFF)), "16 MiB of shared strings and data"),
        expansion("long UTF-16", multiplying(5, longContent(0x6F, 0xFFFE)), "16 MiB of shared strings and data"),
        expansion("references", [[0xAF, 0x12, 0, 0x40, 0, 0] + many(1, 1 << 22), [0x09]], "4194304 values"),
    ]

    private static func expansion(_ name: String, _ objects: [[UInt8]], _ limit: String) -> Bytes {
        Bytes("expansion of \(name)", BinaryList(objects).data, "expands to more than \(limit)")
    }

    /// Lists with ten references to the next list, down to the object.
    private static func multiplying(_ levels: Int, _ object: [UInt8]) -> [[UInt8]] {
        (1...UInt8(levels)).map { [0xAA] + many($0, 10) } + [object]
    }

    /// Data or a text of 32,767 units.
    private static func longContent(_ marker: UInt8, _ bytes: Int) -> [UInt8] {
        [marker, 0x11, 0x7F, 0xFF] + many(0, bytes)
    }

    private static let scalars: [Bytes] = [
        Bytes([[0x33, 0x7F, 0xF8] + many(0, 6)], "a date that is not finite"),
        Bytes([[0x33, 0x7F, 0xF0] + many(0, 6)], "a date that is not finite"),
        Bytes([[0x33, 0xFF, 0xF0] + many(0, 6)], "a date that is not finite"),
        Bytes([[0x14] + many(1, 16)], "an integer of more than 64 bits"),
        Bytes([[0x14] + many(0xFF, 16)], "an integer of more than 64 bits"),
        Bytes([[0x51, 0xC3]], "an ASCII string with other characters"),
        Bytes([[0x53, 0x61, 0x80, 0x61]], "an ASCII string with other characters"),
    ]

    // MARK: - Sizes

    /// Data, texts and containers that claim more than there is.
    private static let counts: [Bytes] = [0x4F, 0x5F, 0x6F, 0xAF, 0xDF].flatMap { (marker: UInt8) in
        largeCounts.map { Bytes([[marker] + $0], "a count larger than the file") }
            + wrongCounts.map { Bytes([[marker] + $0], "a count that is not an integer") }
            + shortCounts.map { Bytes([[marker] + $0], beyondObjects) }
    }

    private static let largeCounts: [[UInt8]] = [
        [0x10, 200], [0x12] + many(0xFF, 4), [0x13, 0x7F] + many(0xFF, 7), [0x13, 0x80] + many(0, 7),
        [0x13] + many(0xFF, 8),
    ]
    private static let wrongCounts: [[UInt8]] = [[0x14] + many(0, 16), [0x20, 1], [0x00, 1], [0x52, 1]]
    /// Counts that lack bytes, and one with too little content.
    private static let shortCounts: [[UInt8]] = [[], [0x10], [0x11, 0], [0x13, 0], [0x10, 30]]

    /// Objects that lack their last byte or more.
    private static let cutOff: [Bytes] = incomplete.map { Bytes([$0], beyondObjects) }

    private static let incomplete: [[UInt8]] = [
        [0x10], [0x11, 0], [0x12, 0, 0, 0], [0x13] + many(0, 7), [0x14, 0], [0x14] + many(0, 15), [0x22, 0, 0, 0],
        [0x23] + many(0, 7), [0x33] + many(0, 7), [0x80], [0x81, 0], [0x87] + many(0, 7), [0x42, 0], [0x52, 0x61],
        [0x61, 0], [0xA2, 0], [0xD1, 0],
    ]

    private static let beyondObjects = "an object that extends beyond the objects"

    private static func many(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
}
