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
        #expect(FileFormat.plainXML.coder.storable(content(-0.0)).isEqual(to: content(0)))
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

    /// The loss is that of any part, whatever comes behind it.
    @Test func aLossIsToldWhereverItIs() throws {
        let twice = "<dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict>"
        let xml = "<plist><dict><key>a</key>\(twice)<key>b</key><dict><key>c</key><true/></dict></dict></plist>"
        let lists = [
            Data(xml.utf8),
            BinaryList([
                [0xD2, 1, 2, 3, 4], [0x51, 0x61], [0x51, 0x62], [0xD2, 5, 6, 7, 7], [0xD1, 1, 7], [0x61, 0, 0xE9],
                [0x62, 0, 0x65, 3, 1], [0x09],
            ]).data,
        ]
        for list in lists {
            let decoded = try PropertyListCoder.decode(list)
            #expect(decoded.value.dictionary?["a"]?.dictionary?.count == 1)
            #expect(
                decoded.loss?.hasSuffix("differ only in Unicode normalization, and a write would lose one of them")
                    == true)
        }
        let half = try PropertyListCoder.decode(
            BinaryList([[0xA2, 1, 2], [0x61, 0xD8, 0], [0xD1, 3, 3], [0x51, 0x61]]).data)
        #expect(half.loss == "a string has an unpaired surrogate, which a write would replace")
    }

    /// What a reader of XML may take for another value is written again in the place where the file has it, and in no other.
    @Test func whatTheFileHasIsWrittenAgain() throws {
        let far = StoredValue.date(Date(timeIntervalSinceReferenceDate: -1e12))
        let values: [StoredValue] = [
            .dictionary(["a\u{1}": .integer(1), "\u{FEFF}b": .integer(2)]), .dictionary(["d": far]),
            .dictionary(["s": .string("\u{FFFF}\u{FFFE}")]), .array([far, .string("\u{7}")]), .string("\u{FEFF}x"),
        ]
        for value in values {
            let former = StoredValue.dictionary(["k": .array([value, .integer(1)])])
            let kept = try PropertyListCoder.encode(former, as: .plainXML, replacing: former)
            #expect(try PropertyListCoder.decode(kept).value == former)
            let changed = StoredValue.dictionary(["k": .array([value, .integer(2)])])
            #expect(throws: Never.self) { try PropertyListCoder.encode(changed, as: .plainXML, replacing: former) }
            for moved in [["k": .array([.integer(1), value])], ["l": .array([value])]] as [[String: StoredValue]] {
                #expect(throws: PropertyListFailure.self) {
                    try PropertyListCoder.encode(.dictionary(moved), as: .plainXML, replacing: former)
                }
            }
        }
    }

    @Test func theFirstOfSeveralForeignObjectsIsNamed() {
        let foreign = StoredValue.array([.foreign(ForeignObject(NSNull()))])
        let members = Dictionary(uniqueKeysWithValues: ["d", "b", "c", "e"].map { ($0, foreign) })
        let failure = #expect(throws: PropertyListFailure.self) {
            try PropertyListCoder.encode(.dictionary(members.merging(["a": .integer(1)]) { $1 }), as: .binary)
        }
        #expect(failure?.topLevelKey == "b")
    }

    /// Whatever the kind of its number: other readers take it for a reference of a keyed archive.
    @Test(arguments: [StoredValue.integer(1), .unsigned(.max), .real(1), .real(0.5)])
    func aLoneNumberOfAReferenceIsRejected(_ number: StoredValue) throws {
        let lone = StoredValue.dictionary(["k": .array([.dictionary([KeyedArchiveUID.key: number])])])
        let failure = #expect(throws: PropertyListFailure.self) { try PropertyListCoder.encode(lone, as: .plainXML) }
        #expect(failure?.path == "k[0]")
        let other = StoredValue.dictionary([KeyedArchiveUID.key: number, "a": .bool(true)])
        #expect(try PropertyListCoder.decode(PropertyListCoder.encode(other, as: .plainXML)).value == other)
    }

    /// A reference of a keyed archive has up to 64 bits, of which XML holds 32.
    @Test(arguments: [0, 1, 255, 256, 65_535, 65_536, 1 << 32 - 1, 1 << 32, 1 << 40, .max] as [UInt64])
    func aReferenceIsWrittenWholeOrRejected(_ number: UInt64) throws {
        let value = StoredValue.dictionary(["k": .uid(KeyedArchiveUID(value: number))])
        #expect(try PropertyListCoder.decode(PropertyListCoder.encode(value, as: .binary)).value == value)
        if number <= UInt32.max {
            #expect(try PropertyListCoder.decode(PropertyListCoder.encode(value, as: .plainXML)).value == value)
        } else {
            let failure = #expect(throws: PropertyListFailure.self) {
                try PropertyListCoder.encode(value, as: .plainXML)
            }
            #expect(failure?.path == "k")
        }
    }

    /// What no reader of this package accepts is not written. The number of a reference is a level of its own in XML.
    @Test func xmlBeyondTheLimitIsRejected() throws {
        func nested(_ levels: Int, _ innermost: StoredValue) -> StoredValue {
            (0..<levels).reduce(innermost) { inner, _ in .array([inner]) }
        }
        let uid = StoredValue.uid(KeyedArchiveUID(value: 1))
        for value in [nested(80, .integer(1)), nested(80, .array([])), nested(79, uid)] {
            #expect(try PropertyListCoder.decode(PropertyListCoder.encode(value, as: .plainXML)).value == value)
        }
        for value in [nested(81, .integer(1)), nested(81, .array([])), nested(80, uid)] {
            let failure = #expect(throws: PropertyListFailure.self) {
                try PropertyListCoder.encode(value, as: .plainXML)
            }
            #expect(failure?.reason == "nested deeper than 80 levels")
        }
    }

    @Test(arguments: [1e18, 1e300, -1e300, .infinity, .nan]) func aDateWithoutAYearIsRejectedInXML(_ interval: Double) {
        #expect(throws: PropertyListFailure.self) {
            try PropertyListCoder.encode(
                objects: [Date(timeIntervalSinceReferenceDate: interval)] as [Any], as: .plainXML)
        }
    }
}
