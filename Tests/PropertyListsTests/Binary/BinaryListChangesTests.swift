import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// The objects that the writer takes over from its former bytes do not change the result, which has the bytes of a
/// complete write.
@Suite struct BinaryListChangesTests {
    @Test(arguments: 0..<UInt64(Hazard.count(2, long: 30))) func randomHistories(_ seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        var value = history.value
        var bytes = try BinaryPropertyListWriter.data(from: value)
        for step in 0..<Hazard.count(15, long: 40) {
            history.change()
            let after = history.value
            bytes = try expectSame(from: value, bytes, to: after, "seed \(seed), step \(step)")
            value = after
        }
        #expect(try foundationsForm(of: bytes) == exactForm(value.object), "seed \(seed)")
        #expect(try read(bytes) == value, "seed \(seed)")
    }

    /// References and offsets get wider and narrower.
    @Test(arguments: [254, 255, 256] + (Hazard.isLong ? [65_534, 65_535, 65_536] : [])) func soManyObjects(_ count: Int)
        throws
    {
        var members: [String: StoredValue] = ["list": .array((0..<(count - 4)).map { .integer(Int64($0) << 33) })]
        for text in ["a", String(repeating: "b", count: 70_000), "c"] {
            let before = StoredValue.dictionary(members)
            let bytes = try BinaryPropertyListWriter.data(from: before)
            members["text"] = .string(text)
            let longer = try expectSame(from: before, bytes, to: .dictionary(members))
            #expect(try expectSame(from: .dictionary(members), longer, to: before) == bytes)
        }
    }

    /// Each change of one member of a dictionary whose values occur several times.
    @Test func sharedScalars() throws {
        let scalars: [StoredValue] = [
            .bool(true), .bool(false), .integer(1), .real(1), .real(-0.0), .string("b"), .string("\u{E9}"),
            .data(Data("b".utf8)), .date(Date(timeIntervalSinceReferenceDate: 1)), .unsigned(.max),
            .array([.string("b"), .bool(true)]), .dictionary(["b": .string("b"), "x": .dictionary([:])]),
        ]
        var members: [String: StoredValue] = [:]
        for (number, scalar) in (scalars + scalars).enumerated() { members["\(number % 7)\(number)"] = scalar }
        members["b"] = .string("71")
        let before = StoredValue.dictionary(members)
        let bytes = try BinaryPropertyListWriter.data(from: before)
        var random = SeededGenerator(seed: 1)
        for key in members.keys.sorted() + ["", "zz", "b\u{E9}"] {
            let others: [StoredValue?] = scalars.shuffled(using: &random) + [.string(key), nil]
            for after in others.suffix(Hazard.count(6, long: .max)) {
                var changed = members
                changed[key] = after
                _ = try expectSame(from: before, bytes, to: .dictionary(changed), "\(key)")
            }
        }
    }

    /// A dictionary holds one spelling of a key. Another spelling is a change, even with an equal value.
    @Test func otherSpellingsOfKeys() throws {
        let spellings = ["e\u{301}", "\u{E9}"]
        for (before, after) in [(spellings[0], spellings[1]), (spellings[1], spellings[0])] {
            for value in [StoredValue.integer(1), .dictionary(["a": .string(before)])] {
                let former = StoredValue.dictionary(["a": .integer(1), before: value, "z": .string(before)])
                let bytes = try BinaryPropertyListWriter.data(from: former)
                _ = try expectSame(
                    from: former, bytes,
                    to: .dictionary(["a": .integer(1), after: value, "z": .string(before)]), "\(after)")
            }
        }
    }

    @Test func bytesOfAnotherWriterAreRejected() throws {
        let former = StoredValue.dictionary(["a": .integer(1), "b": .integer(2)])
        let after = StoredValue.dictionary(["a": .integer(1), "b": .integer(3)])
        let whole = try PropertyListCoder.encode(after, as: .binary)
        for bytes in [
            BinaryList([[0xD1, 1, 2], [0x51, 0x61], [0x10, 1]]).data, BinaryList([[0xA1, 1], [0x51, 0x61]]).data,
            Data(), Data("bplist00".utf8),
        ] {
            #expect(throws: DecodingFailure.self) {
                try BinaryPropertyListWriter.data(from: after, replacing: (former, bytes))
            }
            #expect(try PropertyListCoder.encode(after, as: .binary, replacing: former, written: bytes) == whole)
        }
    }

    @discardableResult
    private func expectSame(
        from before: StoredValue, _ bytes: Data, to after: StoredValue, _ comment: Comment = ""
    ) throws -> Data {
        let changed = try BinaryPropertyListWriter.data(from: after, replacing: (before, bytes))
        #expect(try changed == BinaryPropertyListWriter.data(from: after), comment)
        try changed.withUnsafeBytes { try BinaryPropertyListCheck.check($0) }
        return changed
    }
}

/// A dictionary with random changes: like the content of a file with one large root and some small ones.
private struct RandomHistory {
    private var random: SeededGenerator
    private var members: [String: StoredValue] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 0...300, using: &random) { members[key()] = leaf(3) }
    }

    var value: StoredValue {
        .dictionary(["Root": .dictionary(members), "A": .integer(1), "Z": .dictionary(["Root": .string("Root")])])
    }

    mutating func change() {
        // Mostly one change, and sometimes more changes than unchanged members.
        let count = [1, 1, 1, 2, 5, 20, 400].randomElement(using: &random) ?? 1
        for _ in 0..<count { changeOne() }
    }

    private mutating func changeOne() {
        let known = members.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: members[key()] = leaf(3)
        case 1: known.map { members[$0] = nil }
        case 2:
            guard let known, case .dictionary(var inner) = members[known] else { return }
            inner[key()] = leaf(2)
            members[known] = .dictionary(inner)
        case 3:
            guard let known, case .array(var list) = members[known] else { return }
            list.append(leaf(1))
            members[known] = .array(list)
        // Makes a copy with other storage and another order of the members.
        case 4: members = Dictionary(uniqueKeysWithValues: members.shuffled(using: &random).map { ($0, $1) })
        default: known.map { members[$0] = leaf(3) }
        }
    }

    private mutating func key() -> String {
        let number = Int.random(in: 0..<600, using: &random)
        return ["key\(number)", "\u{E9}\(number)", "e\u{301}\(number)", "\(number)", "b"][number % 5]
    }

    private mutating func leaf(_ levels: Int) -> StoredValue {
        let number = Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<(levels > 0 ? 12 : 10), using: &random) {
        case 0: return .bool(number % 2 == 0)
        case 1: return .integer(Int64(number - 10))
        case 2: return .integer(Int64(number) << 30)
        case 3: return .real(Double(number) / 4)
        case 4: return .string("key\(number)")
        case 5: return .string(String(repeating: "\u{1F600}\u{E9}x", count: number))
        case 6: return .string(String(repeating: "a long text ", count: number))
        case 7: return .data(Data(repeating: UInt8(number), count: number * 3))
        case 8: return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case 9: return .unsigned(UInt64.max - UInt64(number))
        case 10: return .array((0..<(number % 6)).map { _ in leaf(levels - 1) })
        default:
            var inner: [String: StoredValue] = [:]
            for _ in 0..<(number % 6) { inner[key()] = leaf(levels - 1) }
            return .dictionary(inner)
        }
    }
}
