import Foundation
import PropertyListSupport
import Testing
import TestSupport

@testable import PrefsJSON
@testable import PrefsPropertyLists

/// The coder and other readers read what the coder writes.
@Suite struct PropertyListCoderTests {
    @Test(arguments: Content.all) func binaryIsExact(_ content: Content) throws {
        for list in try content.lists() {
            let decoded = try PropertyListCoder.decode(PropertyListCoder.encode(objects: list, as: .binary))
            #expect(decoded.format == .binary)
            #expect(exactForm(decoded.value) == exactForm(list))
        }
    }

    @Test(arguments: Content.inXML) func xmlIsExactButForFractionsOfASecond(_ content: Content) throws {
        for list in try content.lists() {
            let decoded = try PropertyListCoder.decode(PropertyListCoder.encode(objects: list, as: .xml))
            #expect(decoded.format == .xml)
            #expect(exactForm(decoded.value) == exactForm(inWholeSeconds(list)))
        }
    }

    /// The XML has the bytes of Foundation's, except for real numbers, which Foundation writes with more digits than
    /// needed.
    @Test(arguments: Content.likeFoundations) func xmlIsFoundationsToTheByte(_ content: Content) throws {
        for list in try content.lists() {
            let foundations = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            let ours = try PropertyListCoder.encode(objects: list, as: .xml)
            #expect(String(decoding: ours, as: UTF8.self) == String(decoding: foundations, as: UTF8.self))
            #expect(ours == foundations)
        }
    }

    @Test(arguments: Content.notInXML) func whatNotEveryReaderWouldReadAlikeIsRejectedInXML(_ content: Content) throws {
        for list in try content.lists() {
            let failure = #expect(throws: EncodingFailure.self) {
                try PropertyListCoder.encode(objects: list, as: .xml)
            }
            #expect(failure?.reason.hasSuffix("cannot be stored in XML") == true)
        }
    }

    @Test func whatIsRejectedIsNamedByItsPath() throws {
        let failure = #expect(throws: EncodingFailure.self) {
            try PropertyListCoder.encode(plain: ["Root": ["a": [1, ["b": "x\u{1}"]] as [Any]]], as: .xml)
        }
        #expect(failure.map { "\($0)" } == "Root.a[1].b: the control character U+0001 cannot be stored in XML")
    }

    @Test(
        .enabled(if: SwiftPlutil.isThere(for: "interop")),
        arguments: FileFormat.propertyLists)
    func plutilAccepts(_ format: FileFormat) throws {
        let folder = try TemporaryFolder()
        var list: [String: Any] = [:]
        for (index, content) in (format == .xml ? Content.inXML : Content.all).enumerated() {
            list["\(index)"] = try PropertyListVetter.storedObject(of: content.value, forKey: "\(index)").get()
        }
        try PropertyListCoder.encode(objects: list, as: format).write(to: folder.file())
        let plutil = try #require(SwiftPlutil.program)
        #expect(try Child(plutil, ["-lint", "-s", folder.file().path], environment: [:]).wait().code == 0)
    }

    @Test(arguments: [FileFormat.binary, .xml, .json])
    func aForeignObjectIsNamed(_ format: FileFormat) throws {
        let foreign = StoredValue.foreign(ForeignObject(NSNull()))
        for part in [foreign, .array([foreign]), .dictionary(["c": .array([.bool(true), foreign])])] {
            let list = StoredValue.dictionary(["a": .string("x"), "b": part])
            let failure = #expect(throws: EncodingFailure.self) { _ = try PropertyListCoder.encode(list, as: format) }
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
        let xml = try PropertyListCoder.encode(objects: value, as: .xml)
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
        #expect(try PropertyListCoder.encode(objects: again.value, as: .xml) == xml)
        #expect(try PropertyListCoder.encode(objects: again.value, as: .binary) == bytes)
    }

    @Test(arguments: [1e18, 1e300, -1e300, .infinity, .nan]) func aDateWithoutAYearIsRejectedInXML(_ interval: Double) {
        #expect(throws: EncodingFailure.self) {
            try PropertyListCoder.encode(objects: [Date(timeIntervalSinceReferenceDate: interval)] as [Any], as: .xml)
        }
    }

    private func inWholeSeconds(_ value: Any) -> Any {
        switch value {
        case let date as Date:
            Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
        case let list as [Any]: list.map(inWholeSeconds)
        case let dictionary as [String: Any]: dictionary.mapValues(inWholeSeconds)
        default: value
        }
    }
}
