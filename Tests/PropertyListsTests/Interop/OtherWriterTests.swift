import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// What the article "Other readers and writers" says of files that others write. What `InteropTests` compares is left out.
@Suite struct OtherWriterTests {
    private static func list(_ value: String) -> Data {
        Data("<plist version=\"1.0\"><dict><key>k</key>\(value)</dict></plist>".utf8)
    }

    private static func foundation(_ list: Data) throws -> Any? {
        try (PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any])?["k"]
    }

    /// plist of Rust writes them.
    @Test func aDateWithAFractionInXMLIsRefused() throws {
        let list = Self.list("<date>2026-11-28T10:00:00.5Z</date>")
        #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(list) }
        #expect(throws: (any Error).self) { try Self.foundation(list) }
        guard OtherReaders.has(OtherReaders.python, "plistlib") else { return }
        #expect(try OtherReaders.plistlib([list])[0].form.hasPrefix("error"))
    }

    @Test func aUIDAbove32BitsInXMLIsNotRead() throws {
        func uid(_ number: UInt64) -> Data { Self.list("<dict><key>CF$UID</key><integer>\(number)</integer></dict>") }
        let largest = KeyedArchiveUID(value: UInt64(UInt32.max))
        #expect(try PropertyListCoder.decode(uid(UInt64(UInt32.max))).value == .dictionary(["k": .uid(largest)]))
        #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(uid(UInt64(UInt32.max) + 1)) }
    }

    @Test func aRawCarriageReturnIsReadAsFoundationReadsIt() throws {
        let list = Self.list("<string>a\r\nb</string>")
        #expect(try PropertyListCoder.decode(list).value == .dictionary(["k": .string("a\r\nb")]))
        #expect(try Self.foundation(list) as? String == "a\r\nb")
        guard OtherReaders.has(OtherReaders.python, "plistlib") else { return }
        #expect(try OtherReaders.plistlib([list])[0].form == OtherReaders.form(["k": "a\nb"]))
    }

    /// In binary, it writes an integer above `Int64.max` with 64 bits and their sign.
    @Test(.enabled(if: OtherReaders.has(OtherReaders.ruby, "CFPropertyList"))) func largeIntegersOfCFPropertyList()
        throws
    {
        let script = """
            require "cfpropertylist"
            list = CFPropertyList::List.new
            list.value = CFPropertyList.guess({ "k" => 2**64 - 1, "l" => 2**63 - 1 })
            print list.to_str(CFPropertyList::List::FORMAT_BINARY)
            """
        let theirs = try OtherReaders.run(OtherReaders.ruby, ["-e", script], on: Data())
        let value = try PropertyListCoder.decode(theirs).value
        #expect(value == .dictionary(["k": .integer(-1), "l": .integer(.max)]))
    }
}
