import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Contract 7: no file content can crash the process, or take more than linear time.
@Suite struct HostileBytesTests {
    @Test(.timeLimit(.minutes(10)), arguments: Bytes.refused) func areRejected(_ bytes: Bytes) {
        let damage = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes.data) }
        // XML has a line and a column in front.
        #expect(damage?.description == bytes.verdict || damage?.description.hasSuffix(": \(bytes.verdict)") == true)
    }

    @Test(arguments: Bytes.refusedXML) func areRejectedWithAPlace(_ bytes: Bytes) throws {
        let failure = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes.data) }
        #expect(try #require(failure).description.hasPrefix("line 1, column "))
    }

    /// A line ends as any system ends it, and a column is a character.
    @Test(
        arguments: [
            ("<plist>\r<array>\n<array>\r\n<array>\r\r\n<x/>", "line 6, column 1: <x> is not an element"),
            ("<plist><array>\n\r<string>é\u{1F600}</string><x/>", "line 3, column 20: <x> is not an element"),
            ("<plist>\r\n<string>é&x;", "line 2, column 10: an entity other than"),
        ])
    func aMistakeIsFoundWhereItIs(_ text: String, _ message: String) {
        let fault = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(Data(text.utf8)) }
        #expect(fault?.description.hasPrefix(message) == true, "\(String(describing: fault))")
    }

    @Test(arguments: [
        ("<plist><string>aé", 18), ("<plist><string>&lt;<![CDATA[é", 30), ("<plist>\n<dict><key>é&lt;b", 18),
    ])
    func aByteThatIsNotUTF8IsFoundWhereItIs(_ text: String, _ column: Int) {
        let bytes = Data(text.utf8) + [0xFF] + Data("é]]></string>".utf8)
        let fault = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes) }
        #expect(fault?.column == column && fault?.reason == "a byte that is not UTF-8")
    }

    @Test(arguments: Bytes.accepted) func areAccepted(_ bytes: Bytes) throws {
        #expect(exactForm(try PropertyListCoder.decode(bytes.data).value.object) == bytes.verdict)
    }

    @Test(arguments: [FileFormat].all) func everyTruncationIsRejected(_ format: FileFormat) throws {
        let bytes = try PropertyListCoder.encode(plain: Self.list, as: format)
        // XML and JSON are complete without the line break at their end.
        for count in 0..<(bytes.count - 1) {
            #expect(throws: PropertyListFault.self, "\(count) bytes") {
                try PropertyListCoder.decode(bytes.prefix(count), as: .all)
            }
        }
    }

    /// A flip that yields a property list yields one that the coder can write again.
    @Test(arguments: [FileFormat].all) func everyFlippedBitIsSurvived(_ format: FileFormat) throws {
        let bytes = try PropertyListCoder.encode(plain: Self.list, as: format)
        var refused = 0
        let step = Hazard.count(7, long: 1)
        for bit in stride(from: 0, to: bytes.count * 8, by: step) {
            var mutant = bytes
            mutant[bit / 8] ^= 1 << (bit % 8)
            guard let value = try? PropertyListCoder.decode(mutant, as: .all).value.object else {
                refused += 1
                continue
            }
            let again = try PropertyListCoder.decode(PropertyListCoder.encode(objects: value, as: .binary)).value.object
            #expect(exactForm(again) == exactForm(value), "bit \(bit)")
        }
        #expect(refused > 0 && refused < bytes.count * 8 / step)
    }

    @Test func aSliceOfOtherBytesIsReadFromItsStart() throws {
        let bytes = try PropertyListCoder.encode(plain: Self.list, as: .binary)
        let slice = (Data([1, 2, 3]) + bytes + Data([4])).dropFirst(3).dropLast()
        let value = try PropertyListCoder.decode(slice).value.object
        #expect(exactForm(value) == exactForm(Self.list))
    }

    private static var list: [String: Any] {
        [
            "text": "a<b", "ünï": ["é", true, NSNumber(value: 1.5)] as [Any],
            "date": Date(timeIntervalSinceReferenceDate: 5),
            "data": Data([1, 2, 3]),
            "numbers": ["max": NSNumber(value: UInt64.max), "min": NSNumber(value: Int.min)] as [String: Any],
        ]
    }
}
