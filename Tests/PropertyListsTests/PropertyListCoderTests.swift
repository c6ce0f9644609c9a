import Foundation
import PropertyListSupport
import Testing
import TestSupport

@testable import PrefsJSON
@testable import PrefsPropertyLists

/// The coder and other readers read what the coder writes.
@Suite struct PropertyListCoderTests {
    /// In XML, fractions of a second are lost.
    @Test(arguments: Content.all.map { ($0, FileFormat.binary) } + Content.inXML.map { ($0, .plainXML) })
    func isReadExactly(_ content: Content, _ format: FileFormat) throws {
        for list in try content.lists() {
            let bytes = try PropertyListCoder.encode(objects: list, as: format)
            let decoded = try PropertyListCoder.decode(bytes)
            #expect(decoded.format == format)
            let expected = exactForm(format == .plainXML ? inWholeSeconds(list) : list)
            #expect(exactForm(decoded.value) == expected)
            let foundations = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
            #expect(XMLJudge.form(foundations) == expected)
        }
    }

    /// What a write returns is what the next process reads. A large content without such dates is not copied.
    @Test func aContentOfXMLHasWholeSeconds() {
        func content(_ seconds: TimeInterval) -> [String: StoredValue] {
            let date = StoredValue.date(Date(timeIntervalSinceReferenceDate: seconds))
            return ["a": .array([.dictionary(["b": date]), .string("x")]), "c": .integer(1)]
        }
        #expect(FileFormat.plainXML.coder.storable(content(1.5)).isEqual(to: content(1)))
        #expect(FileFormat.plainXML.coder.storable(content(-0.5)).isEqual(to: content(-1)))
        #expect(FileFormat.binary.coder.storable(content(1.5)).isEqual(to: content(1.5)))
        let whole = content(1)
        #expect(FileFormat.plainXML.coder.storable(whole).isIdentical(to: whole))
    }

    /// U+212A is equal to the letter K, in both orders. Neither is a doubled key.
    @Test(arguments: [["K", "\u{212A}"], ["\u{212A}", "K"]]) func anASCIIKeyMayHaveASecondSpelling(_ keys: [String]) {
        var collector = DictionaryCollector()
        for key in keys {
            let isNew = collector.add(key, .integer(1), .firstCounts)
            #expect(isNew)
        }
        #expect(collector.loss != nil && collector.members.count == 1)
        let isNewAgain = collector.add(keys[0], .integer(2), .firstCounts)
        #expect(!isNewAgain)
    }

    /// The XML has the bytes of Foundation's, except for real numbers, which Foundation writes with more digits than
    /// needed.
    @Test(arguments: Content.likeFoundations) func xmlIsFoundationsToTheByte(_ content: Content) throws {
        for list in try content.lists() {
            let foundations = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            let ours = try PropertyListCoder.encode(objects: list, as: .plainXML)
            #expect(String(decoding: ours, as: UTF8.self) == String(decoding: foundations, as: UTF8.self))
            #expect(ours == foundations)
        }
    }

    @Test(arguments: Content.notInXML) func whatNotEveryReaderWouldReadAlikeIsRejectedInXML(_ content: Content) throws {
        for list in try content.lists() {
            let failure = #expect(throws: PropertyListFailure.self) {
                try PropertyListCoder.encode(objects: list, as: .plainXML)
            }
            #expect(failure?.reason.hasSuffix("cannot be stored in XML") == true)
        }
    }

    @Test func whatIsRejectedIsNamedByItsPath() throws {
        let failure = #expect(throws: PropertyListFailure.self) {
            try PropertyListCoder.encode(plain: ["Root": ["a": [1, ["b": "x\u{1}"]] as [Any]]], as: .plainXML)
        }
        #expect(failure.map { "\($0)" } == "Root.a[1].b: the control character U+0001 cannot be stored in XML")
    }

    @Test(arguments: [FileFormat.binary, .plainXML, .json])
    func aForeignObjectIsNamed(_ format: FileFormat) throws {
        let foreign = StoredValue.foreign(ForeignObject(NSNull()))
        for part in [foreign, .array([foreign]), .dictionary(["c": .array([.bool(true), foreign])])] {
            let list = StoredValue.dictionary(["a": .string("x"), "b": part])
            let failure = #expect(throws: PropertyListFailure.self) {
                _ = try PropertyListCoder.encode(list, as: format)
            }
            #expect(failure?.topLevelKey == (format == .json ? "" : "b"))
            let reason = format == .json ? "cannot be stored in JSON" : "an object that no property list can hold"
            #expect(failure?.reason.hasSuffix(reason) == true)
        }
    }

    @Test func aForeignObjectIsCarriedAlong() throws {
        // {"k": UID 5}, as keyed archives have it.
        let bytes = BinaryList([[0xD1, 1, 2], [0x51, 0x6B], [0x80, 5]]).data
        let value = try PropertyListCoder.decode(bytes).value.object
        #expect(try PropertyListCoder.encode(objects: value, as: .binary) == bytes)
        let xml = try PropertyListCoder.encode(objects: value, as: .plainXML)
        #expect(
            String(decoding: xml, as: UTF8.self).contains(
                """
                <dict>
                \t<key>k</key>
                \t<dict>
                \t\t<key>CF$UID</key>
                \t\t<integer>5</integer>
                \t</dict>
                </dict>

                """))
        let again = try PropertyListCoder.decode(xml)
        #expect(try PropertyListCoder.encode(objects: again.value, as: .plainXML) == xml)
        #expect(try PropertyListCoder.encode(objects: again.value, as: .binary) == bytes)
    }

    @Test(arguments: [1e18, 1e300, -1e300, .infinity, .nan]) func aDateWithoutAYearIsRejectedInXML(_ interval: Double) {
        #expect(throws: PropertyListFailure.self) {
            try PropertyListCoder.encode(
                objects: [Date(timeIntervalSinceReferenceDate: interval)] as [Any], as: .plainXML)
        }
    }
}
