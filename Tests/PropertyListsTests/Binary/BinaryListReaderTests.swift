import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// Our reader and Foundation read equal values from binary lists of any writer.
@Suite struct BinaryListReaderTests {
    private static let ones = [UInt8](repeating: 0xFF, count: 8)
    private static let zeros = [UInt8](repeating: 0, count: 8)

    /// Objects that hold no others, and a part of the form of their values.
    private static let scalars: [(bytes: [UInt8], form: String)] = [
        ([0x08], "false"), ([0x09], "true"),
        ([0x10, 0xFF], "255"), ([0x11, 0xFF, 0xFF], "65535"),
        ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], "4294967295"), ([0x13] + ones, "-1"),
        ([0x13, 0x80, 0, 0, 0, 0, 0, 0, 0], "\(Int64.min)"), ([0x13, 0, 0, 0, 0, 0, 0, 0, 9], "9"),
        ([0x14] + zeros + ones, "\(UInt64.max)"), ([0x14] + zeros + [0, 0, 0, 0, 0, 0, 0, 9], "9"),
        ([0x14] + zeros + [0x80, 0, 0, 0, 0, 0, 0, 0], "9223372036854775808"),
        ([0x22, 0x3F, 0x80, 0, 0], "1.0 (3ff0"), ([0x22, 0x80, 0, 0, 0], "-0.0 (8000"),
        ([0x22, 0x7F, 0x80, 0, 0], "inf"), ([0x23, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0], "1.5"),
        ([0x23, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0], "-inf"), ([0x23, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0], "nan"),
        ([0x33, 0x40, 0x09, 0x21, 0xFB, 0x54, 0x44, 0x2D, 0x18], "date 3.14159"),
        ([0x33, 0x80, 0, 0, 0, 0, 0, 0, 0], "date -0.0"),
        ([0x40], "data "), ([0x42, 0, 0xFF], "data AP8="), ([0x4F, 0x10, 1, 7], "data Bw=="),
        ([0x50], "''"), ([0x52, 0, 0x7F], "'\\0\\u{7F}'"), ([0x5F, 0x11, 0, 1, 0x61], "'a'"),
        ([0x61, 0, 0x61], "'a'"), ([0x61, 0xFE, 0xFF], "'\\u{FEFF}'"),
        ([0x62, 0xFE, 0xFF, 0, 0x61], "'\\u{FEFF}a'"), ([0x61, 0xFF, 0xFE], "'\\u{FFFE}'"),
        ([0x62, 0xD8, 0x3D, 0xDE, 0], "'\\u{0001F600}'"), ([0x61, 0xDE, 0], "'\\u{FFFD}'"),
        ([0x6F, 0x12, 0, 0, 0, 1, 0, 0xE9], "'\\u{00E9}'"),
    ]

    @Test(arguments: scalars) func everyKindOfScalar(_ bytes: [UInt8], _ form: String) throws {
        for objects in [[bytes], [[0xA2, 1, 1], bytes], [[0xD1, 2, 1], bytes, [0x51, 0x6B]]] {
            let bytes = BinaryList(objects).data
            let ours = try read(bytes)
            #expect(try exactForm(ours) == foundationsForm(of: bytes))
            #expect(exactForm(ours).contains(form))
            // Each number has one canonical case.
            #expect(StoredValue(of: ours.object) == ours)
        }
    }

    /// Every NaN is read as the canonical NaN, because all NaNs are equal and equal values must give equal bytes.
    @Test(
        arguments: [
            [0x22, 0x7F, 0xC0, 0, 1], [0x22, 0xFF, 0xC0, 0, 0], [0x23, 0xFF, 0xF8, 0, 0, 0, 0, 0, 1],
        ] as [[UInt8]])
    func everyNaNIsTheSame(_ object: [UInt8]) throws {
        guard case .real(let number) = try read(BinaryList([object]).data) else { throw CocoaError(.coderInvalidValue) }
        #expect(number.bitPattern == Double.nan.bitPattern)
    }

    @Test(arguments: 1...8, 1...8) func everyWidth(_ referenceSize: Int, _ offsetSize: Int) throws {
        let pad = [UInt8](repeating: 0, count: referenceSize - 1)
        func references(_ numbers: [UInt8]) -> [UInt8] { numbers.flatMap { pad + [$0] } }
        let bytes = BinaryList(
            [
                [0xD2] + references([1, 2, 3, 4]), [0x51, 0x61], [0x51, 0x62], [0x09], [0xA3] + references([3, 5, 1]),
                [0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
            ], referenceSize: referenceSize, offsetSize: offsetSize
        ).data
        #expect(exactForm(try read(bytes)) == "{'a': true, 'b': [true, -2, 'a']}")
        #expect(try foundationsForm(of: bytes) == "{'a': true, 'b': [true, -2, 'a']}")
    }

    /// Foundation reads the first value, plistlib the last one.
    @Test(arguments: [(key: 1, value: 2), (1, 3), (4, 3)])
    func aKeyThatOccursTwiceIsMalformed(_ key: UInt8, _ value: UInt8) throws {
        let bytes = BinaryList([[0xD2, 1, key, 2, value], [0x51, 0x61], [0x09], [0x08], [0x51, 0x61]]).data
        #expect(try foundationsForm(of: bytes) == "{'a': true}")
        do {
            _ = try read(bytes)
            Issue.record("it was read")
        } catch let fault as PropertyListFault where !fault.isUnsupported {
            #expect(fault.reason == "the key \"a\" occurs twice")
        }
    }

    @Test func sharedContainersAreReadWhereverTheyAre() throws {
        let bytes = BinaryList([
            [0xD2, 1, 2, 3, 4], [0x51, 0x61], [0x51, 0x62], [0xA2, 4, 4], [0xD1, 1, 5], [0xA1, 6], [0x10, 7],
        ]).data
        let form = "{'a': [{'a': [7]}, {'a': [7]}], 'b': {'a': [7]}}"
        #expect(exactForm(try read(bytes)) == form)
        #expect(try foundationsForm(of: bytes) == form)
    }

    /// A UID of up to eight bytes is read at every place and written back unchanged.
    @Test(arguments: 0..<8) func aUIDIsAValueOfItsOwn(_ size: UInt8) throws {
        let uid = [0x80 | size] + [UInt8](repeating: 0, count: Int(size)) + [5]
        for objects in [[uid], [[0xA2, 1, 2], uid, [0x09]], [[0xD1, 1, 2], [0x51, 0x6B], uid]] {
            let bytes = BinaryList(objects).data
            let value = try read(bytes)
            #expect(exactForm(value).contains("UID 5"))
            #expect(
                XMLJudge.form(try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil))
                    .contains("UID 5"))
            let again = try PropertyListCoder.encode(objects: value, as: .binary)
            #expect(exactForm(try PropertyListCoder.decode(again).value.object) == exactForm(value))
        }
        // A list with a UID is checked completely.
        let damaged = BinaryList([[0xA2, 1, 2], uid, [0xA1, 2]]).data
        #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(damaged) }
    }

    @Test func whatIsReadIsWrittenBack() throws {
        for bytes in Bytes.accepted where bytes.data.starts(with: "bplist".utf8) {
            let value = try read(bytes.data)
            #expect(try read(BinaryPropertyListWriter.data(from: value)) == value, "\(bytes)")
        }
    }

    /// A flipped bit is detected, or the bytes are then another value. A list that is cut off is detected.
    @Test func damageIsFoundOrIsAnotherValue() throws {
        let value = StoredValue.dictionary([
            "a": .array([.integer(1), .string("text"), .bool(true)]), "b": .dictionary(["c": .string("\u{E9}")]),
            "d": .real(0.5), "e": .date(Date(timeIntervalSinceReferenceDate: 0)), "f": .data(Data([1, 2])),
        ])
        let bytes = try BinaryPropertyListWriter.data(from: value)
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            // The first six bytes of the trailer, and the last byte of the magic, mean nothing.
            let isUnused = bit / 8 == 7 || (bytes.count - 32..<bytes.count - 26).contains(bit / 8)
            if let read = try? read(flipped) { #expect(isUnused || read != value, "bit \(bit)") }
        }
        for count in 0..<bytes.count { #expect(throws: PropertyListFault.self) { try read(bytes.prefix(count)) } }
    }
}

/// The value that our reader reads.
func read(_ bytes: Data) throws -> StoredValue {
    try bytes.withUnsafeBytes { try BinaryPropertyListReader.value(in: $0).value }
}
