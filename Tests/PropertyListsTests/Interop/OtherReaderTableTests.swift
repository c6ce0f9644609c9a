import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// The table of the article "Other readers and writers": each value that a library reads otherwise than Foundation, with the
/// nearest value that it reads exactly. All other values are those of `InteropTests`.
@Suite struct OtherReaderTableTests {
    /// A value in a file of this package, and what a library makes of it.
    struct Row: Sendable, CustomTestStringConvertible {
        enum Reading: Sendable {
            case exact
            case refused
            case other(StoredValue)
        }

        let value: StoredValue
        let formats: [FileFormat]
        let reading: Reading

        var testDescription: String { "\(value), \(formats): \(reading)" }

        init(_ value: StoredValue, _ formats: [FileFormat], _ reading: Reading) {
            (self.value, self.formats, self.reading) = (value, formats, reading)
        }

        /// In both formats.
        init(_ value: StoredValue, _ reading: Reading) { self.init(value, FileFormat.propertyLists, reading) }

        /// - Parameter form: returns the form in which the library reads a list with the value under the key "k".
        func check(_ form: (Data) throws -> String) throws {
            for format in formats {
                let found = try? form(try PropertyListCoder.encode(.dictionary(["k": value]), as: format))
                switch reading {
                case .exact: #expect(found == OtherReaders.form(.dictionary(["k": value])), "\(format)")
                case .refused: #expect(found == nil || found?.hasPrefix("error") == true, "\(format)")
                case .other(let other): #expect(found == OtherReaders.form(.dictionary(["k": other])), "\(format)")
                }
            }
        }
    }

    private static func date(_ seconds: Double) -> StoredValue {
        .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    /// The first second of the year 1, and that after the year 9999.
    private static let (yearOne, yearTenThousand) = (-63_113_904_000.0, 252_423_993_600.0)
    private static let distantPast = StoredValue.date(.distantPast)
    private static let large = StoredValue.unsigned(UInt64(Int64.max) + 1)

    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.python, "plistlib")),
        arguments: [
            Row(distantPast, [.binary], .refused), Row(date(yearOne), .exact),
            Row(date(yearTenThousand), [.binary], .refused), Row(date(yearTenThousand - 1), .exact),
        ])
    func plistlib(_ row: Row) throws {
        try row.check { try OtherReaders.plistlib([$0])[0].form }
    }

    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.biplist, "biplist")),
        arguments: [
            Row(distantPast, [.binary], .other(date(yearOne))), Row(date(yearOne), [.binary], .exact),
            Row(date(yearTenThousand - 1), [.binary], .exact), Row(large, [.binary], .exact),
        ])
    func biplist(_ row: Row) throws {
        try row.check { try OtherReaders.readings(OtherReaders.biplist, "biplist", [$0])[0].form }
    }

    /// It counts the seconds since 2001 with 32 bits.
    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.libplist, "the C interface of libplist")),
        arguments: [
            Row(date(2_147_483_647), .exact), Row(date(2_147_483_648), .other(date(-2_147_483_648))),
            Row(date(-2_147_483_648), .exact), Row(date(-2_147_483_649), .other(date(-2_147_483_648))),
            Row(distantPast, [.binary], .other(date(-2_147_483_648))),
            Row(date(-63_071_999.75), [.binary], .other(date(-63_071_998.25))), Row(date(0.25), [.binary], .exact),
            Row(.string("a\0b"), [.binary], .other(.string("a"))), Row(large, .exact),
        ])
    func libplist(_ row: Row) throws {
        try row.check { list in
            let form = try OtherReaders.readings(OtherReaders.libplist, "libplist", [list])[0].form
            return "{s6b:\(form)}"
        }
    }

    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.gnustep, "GNUstep")),
        arguments: [
            Row(large, [.binary], .refused), Row(large, [.plainXML], .other(.integer(.max))),
            Row(.integer(.max), .exact),
            Row(.string("a\\U0041"), [.binary], .exact), Row(.string("a\\U0041"), [.plainXML], .other(.string("aA"))),
            Row(distantPast, [.binary], .exact), Row(.string("a\0b"), [.binary], .exact),
        ])
    func gnustep(_ row: Row) throws {
        try row.check { list in
            OtherReaders.form(try PropertyListCoder.decode(OtherReaders.gnustep(list, to: .binary)).value)
        }
    }

    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.ruby, "CFPropertyList")),
        arguments: [
            Row(large, [.binary], .refused), Row(large, [.plainXML], .exact), Row(.integer(.max), .exact),
            Row(.real(.infinity), [.binary], .exact), Row(.real(.infinity), [.plainXML], .other(.real(0))),
            Row(.real(.nan), [.binary], .exact), Row(.real(.nan), [.plainXML], .other(.real(0))),
            Row(.uid(KeyedArchiveUID(value: 1)), [.plainXML], .other(.integer(1))),
            Row(.dictionary(["CF$UID": .string("x")]), [.plainXML], .other(.string("x"))),
            Row(.dictionary(["CF$UID": .integer(1), "a": .integer(2)]), .exact),
        ])
    func cfPropertyList(_ row: Row) throws { try row.check(OtherReaders.rubyForm) }

    // MARK: - Random trees

    /// GNUstep and biplist write one object for 0.0 and -0.0.
    private static func withoutSignOfZero(_ form: String) -> String {
        form.replacing("f8000000000000000", with: "f0000000000000000")
    }

    /// GNUstep's writer breaks NaN in binary. Its XML has 15 digits and escapes of its own, and is not compared.
    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.gnustep, "GNUstep")), arguments: FileFormat.propertyLists)
    func gnustepInBothDirections(_ format: FileFormat) throws {
        let trees = try InteropTree.all().filter { tree in
            let form = OtherReaders.form(tree)
            return !form.contains("nan") && form.matches(of: /i([0-9]{19,})/).allSatisfy { Int64($0.output.1) != nil }
        }
        let ours = try PropertyListCoder.encode(objects: trees as [Any], as: format)
        let theirs = try PropertyListCoder.decode(try OtherReaders.gnustep(ours, to: .binary))
        for (tree, again) in zip(trees, theirs.value.array ?? []) {
            #expect(Self.withoutSignOfZero(OtherReaders.form(again)) == Self.withoutSignOfZero(OtherReaders.form(tree)))
        }
        #expect(theirs.value.array?.count == trees.count && theirs.loss == nil && !trees.isEmpty)
        Hazard.report("interop: GNUstep, \(format): \(trees.count) trees in both directions")
    }

    @Test(.enabled(if: OtherReaders.has(OtherReaders.biplist, "biplist"))) func biplistInBothDirections() throws {
        let trees = try InteropTree.all()
        let lists = try trees.map { try PropertyListCoder.encode(objects: $0, as: .binary) }
        let readings = try OtherReaders.readings(OtherReaders.biplist, "biplist", lists)
        for (seed, (tree, reading)) in zip(trees, readings).enumerated() {
            let expected = OtherReaders.form(tree)
            let again = try PropertyListCoder.decode(reading.binary)
            #expect(reading.form == expected, "seed \(seed + 1)")
            let written = OtherReaders.form(again.value)
            #expect(Self.withoutSignOfZero(written) == Self.withoutSignOfZero(expected), "seed \(seed + 1)")
            #expect(again.loss == nil)
        }
        Hazard.report("interop: biplist: \(trees.count) trees in both directions")
    }
}
