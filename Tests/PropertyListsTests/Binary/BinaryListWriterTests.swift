import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// Foundation reads equal values from the lists of our writer, and our reader from those of Foundation.
@Suite struct BinaryListWriterTests {
    /// The widths of references and offsets change with the number of objects. Foundation checks them by its own rules.
    @Test(arguments: [1, 14, 15, 16, 17, 254, 255, 256, 257, 300, 65_536] + (Hazard.isLong ? [65_535] : []))
    func soManyObjects(_ count: Int) throws {
        let numbers = Array(1..<count)
        let bytes = try written(numbers.map { NSNumber(value: $0) })
        #expect(bytes.suffix(24).prefix(8).reduce(0) { $0 << 8 | Int($1) } == count)
        let list = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
        #expect((list as? [Any])?.map { $0 as? Int } == numbers)
        #expect((try PropertyListCoder.decode(bytes).value.object as? [Any])?.map { $0 as? Int } == numbers)
    }

    @Test(arguments: [256, 65_536]) func theTableMayBeginAnywhere(_ start: Int) throws {
        var starts: Set<Int> = []
        for size in (start - 20)...start {
            let bytes = try written(Data(repeating: 7, count: size))
            starts.insert(bytes.suffix(8).reduce(0) { $0 << 8 | Int($1) })
            #expect(try foundationsForm(of: bytes) == exactForm(Data(repeating: 7, count: size)))
        }
        #expect(starts.isSuperset(of: [start - 1, start, start + 1]))
    }

    @Test(arguments: [0, 1, 14, 15, 16, 255, 256, 65_536]) func textsAndDataOfThatLength(_ length: Int) throws {
        for text in ["a", "\u{E9}", "\u{1F600}", "\u{FEFF}"] {
            let text = String(repeating: text, count: length)
            for value in [text, Data(repeating: 1, count: length), [text: [text, "\u{FEFF}" + text] as [Any]]] as [Any]
            {
                let bytes = try written(value)
                let read = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
                #expect(StoredValue.areEqual(withTextKeys(read), value))
                #expect(StoredValue.areEqual(try PropertyListCoder.decode(bytes).value.object, value))
            }
        }
    }

    @Test func numbersAtTheirEnds() throws {
        let bounds = (0..<64).flatMap { bit -> [Int64] in
            let power = Int64(bitPattern: 1 << bit)
            return [power, power &- 1, power &+ 1, 0 &- power, ~power]
        }
        let unsigned = [UInt64.max, UInt64.max - 1, 1 << 63, (1 << 63) + 1].map { NSNumber(value: $0) }
        let reals = [0.0, -0.0, 1, -1, 0.1, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300]
        try expectSame(bounds.map { NSNumber(value: $0) })
        try expectSame(unsigned)
        try expectSame(reals.map { NSNumber(value: $0) })
        try expectSame(reals.filter(\.isFinite).map { Date(timeIntervalSinceReferenceDate: $0) })
        // Three values that Swift considers equal.
        try expectSame(
            [NSNumber(value: 1), NSNumber(value: 1.0), true, NSNumber(value: 0), NSNumber(value: -0.0), false] as [Any])
        try expectSame(["e\u{301}", "\u{E9}", "1", Data("1".utf8), "\u{0}", ""])
        // An entry of another program. This package stores no such value.
        try expectSame(["other": ["CF$UID": NSNumber(value: 5)]])
    }

    /// To Swift, "\u{E9}37" is not before "\u{E9}371" if only one of the two is composed. The order of keys must not
    /// depend on it.
    @Test func equalValuesAreEqualBytesInWhateverOrder() throws {
        var random = SeededGenerator(seed: 1)
        let keys =
            (0..<300).map { "\($0)\u{E9}" } + (0..<50).map { "com.example.\($0)" } + [
                "\u{E9}326", "e\u{301}32", "e\u{301}37", "\u{E9}371", "\u{FB00}", "\u{1F600}", "\u{FFFD}", "", "a", "b",
            ]
        let members: [(String, Any)] = keys.map { ($0, ["v": "\($0.count)", "w": $0]) }
        let first = try written(Dictionary(uniqueKeysWithValues: members))
        for round in 0..<30 {
            var other = Dictionary<String, Any>(minimumCapacity: [0, 10, 5_000][round % 3])
            for (key, value) in members.shuffled(using: &random) { other[key] = value }
            #expect(try written(other) == first)
            other["0\u{E9}"] = ["v": "1", "w": "0"]
            #expect(try written(other) != first)
        }
        // A number has one form for all of its types.
        #expect(try written([NSNumber(value: true)]) == written([true]))
        #expect(try written([NSNumber(value: Int8(5))]) == written([NSNumber(value: UInt64(5))]))
        #expect(try written([NSNumber(value: Float(0.5))]) == written([NSNumber(value: 0.5)]))
    }

    /// The order of a dictionary is random in each process. In its bytes, backups and repositories would see a change.
    @Test func twoProcessesWriteTheSameBytes() throws {
        let folder = try TemporaryFolder()
        let json = folder.file("a.json")
        let members = (0..<200).map { "\"com.example.\u{E9}\($0)\": {\"b\": \($0), \"a\": [1, 2.5, true]}" }
        try Data("{\(members.joined(separator: ", "))}".utf8).write(to: json)
        let files = (0..<3).map { folder.file("\($0).plist") }
        for file in files {
            let words = ["import", "-f", file.path, json.path]
            #expect(try Child("prefs", words, home: folder).wait().code == 0)
        }
        let bytes = try files.map { try Data(contentsOf: $0) }
        #expect(bytes[0].starts(with: "bplist00".utf8) && bytes[0] == bytes[1] && bytes[1] == bytes[2])
        #expect(try read(bytes[0]).dictionary?.count == 200)
    }

    /// What no reader of this package accepts is not written.
    @Test func aListBeyondTheLimitsIsRejected() throws {
        func nested(_ levels: Int, _ innermost: StoredValue) -> StoredValue {
            (0..<levels).reduce(innermost) { inner, _ in .array([inner]) }
        }
        // A scalar counts as a level, as in the reader.
        for value in [nested(80, .integer(1)), nested(80, .array([])), nested(79, .dictionary(["a": .integer(1)]))] {
            #expect(try read(BinaryPropertyListWriter.data(from: value)) == value)
        }
        for value in [nested(81, .integer(1)), nested(81, .array([])), nested(80, .dictionary(["a": .integer(1)]))] {
            let error = #expect(throws: PropertyListFailure.self) { try BinaryPropertyListWriter.data(from: value) }
            #expect(error?.reason == "could not be read again: nested deeper than 80 levels")
        }
    }

    @Test func deepOnesOnASmallStack() throws {
        let levels = 80
        nonisolated(unsafe) let lists: Any = (1..<levels).reduce([Any]()) { list, _ in [list] }
        nonisolated(unsafe) let dictionaries: Any = (1..<levels).reduce([String: Any]()) { inner, _ in ["k": inner] }
        try onSmallStack {
            for value in [lists, dictionaries] {
                let value = StoredValue(of: value)
                let bytes = try BinaryPropertyListWriter.data(from: value)
                #expect(try read(bytes) == value)
            }
        }
    }

    private func expectSame(_ value: Any) throws {
        let (bytes, form) = (try written(value), exactForm(StoredValue(of: value)))
        #expect(try foundationsForm(of: bytes) == form)
        #expect(try exactForm(PropertyListCoder.decode(bytes).value) == form)
    }

    /// Does not vet the value, because the vetter has narrower limits, and rejects values that only other programs
    /// have.
    private func written(_ value: Any) throws -> Data {
        try BinaryPropertyListWriter.data(from: StoredValue(of: value))
    }
}

/// The exact form of the value that Foundation reads.
func foundationsForm(of bytes: Data) throws -> String {
    exactForm(withTextKeys(try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)))
}
