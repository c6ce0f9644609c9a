import Foundation
import PropertyListSupport
import Testing
import TestSupport

@testable import PrefsPropertyLists

/// Contract 4: what this package writes reads back identically in Foundation, Python's plistlib and libplist; what they
/// write, this package reads identically. Random trees in both directions; `PREFS_TREES` sets how many.
@Suite struct InteropTests {
    /// Both writers may give 0.0 for -0.0: plistlib in binary if 0.0 occurs too, libplist in XML.
    private static func isWrittenAs(_ value: Any, _ expected: String) -> Bool {
        func unsigned(_ form: String) -> String { form.replacing("f8000000000000000", with: "f0000000000000000") }
        // Members are in the order of their forms.
        func sorted(_ form: String) -> [String] {
            unsigned(form).split { "[]{},".contains($0) }.map(String.init).sorted()
        }
        let form = OtherReaders.form(value)
        return form == expected || form.count == expected.count && sorted(form) == sorted(expected)
    }

    @Test(arguments: FileFormat.propertyLists) func foundation(_ format: FileFormat) throws {
        for (seed, tree) in try InteropTree.all().enumerated() {
            let ours = try PropertyListCoder.encode(objects: tree, as: format)
            let read = try PropertyListSerialization.propertyList(from: ours, options: [], format: nil)
            let expected = exactForm(tree)
            let kind: PropertyListSerialization.PropertyListFormat = format == .plainXML ? .xml : .binary
            let theirs = try PropertyListSerialization.data(fromPropertyList: tree, format: kind, options: 0)
            let again = try PropertyListCoder.decode(theirs)
            // Foundation's writer loses the sign of -0.0 in XML.
            let isSame = exactForm(again.value) == expected || format == .plainXML && expected.contains("-0.0")
            #expect(XMLJudge.form(read) == expected && isSame, "seed \(seed + 1)")
            #expect(again.format == format && again.loss == nil, "seed \(seed + 1)")
        }
        Hazard.report("interop: Foundation, \(format): \(InteropTree.count) trees in both directions")
    }

    @Test(.enabled(if: OtherReaders.has(OtherReaders.python, "plistlib")), arguments: FileFormat.propertyLists)
    func plistlib(_ format: FileFormat) throws {
        let trees = try InteropTree.all()
        let readings = try OtherReaders.plistlib(trees.map { try PropertyListCoder.encode(objects: $0, as: format) })
        for (seed, (tree, reading)) in zip(trees, readings).enumerated() {
            let expected = OtherReaders.form(tree)
            var isSame = reading.form == expected
            for theirs in [reading.xml, reading.binary] {
                // plistlib writes a carriage return as a line feed in XML.
                guard theirs.starts(with: "bplist".utf8) || !expected.contains("0d") else { continue }
                let again = try PropertyListCoder.decode(theirs)
                isSame = isSame && Self.isWrittenAs(again.value, expected) && again.loss == nil
            }
            #expect(isSame, "seed \(seed + 1): \(expected) became \(reading.form)")
        }
        Hazard.report("interop: plistlib, \(format): \(InteropTree.count) trees in both directions")
    }

    /// libplist has neither NaN nor infinite numbers in XML, writes a raw carriage return, and reads a string that
    /// holds only blanks as it is.
    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.plistutil, "libplist")), arguments: FileFormat.propertyLists)
    func libplist(_ format: FileFormat) throws {
        let trees = try InteropTree.all().filter { tree in
            let form = OtherReaders.form(tree)
            return !form.contains("nan") && !form.contains("f7ff0000000000000") && !form.contains("ffff0000000000000")
        }
        for start in stride(from: 0, to: trees.count, by: 500) {
            let list = Array(trees[start..<min(start + 500, trees.count)])
            let ours = try PropertyListCoder.encode(objects: list as [Any], as: format)
            for other in FileFormat.propertyLists {
                let theirs = try PropertyListCoder.decode(try OtherReaders.libplist(ours, to: other))
                for (tree, again) in zip(list, theirs.value.array ?? []) {
                    let expected = OtherReaders.form(tree)
                    #expect(Self.isWrittenAs(again, expected), "as \(other): \(expected) became \(again)")
                }
                #expect(theirs.value.array?.count == list.count)
            }
        }
        Hazard.report("interop: libplist, \(format): \(trees.count) trees in both directions")
    }

    /// Foundation skips blanks and control characters before and after the sign of an integer. Before a real number, it
    /// skips these and a few more, and none after its sign.
    @Test(
        arguments: ["- 5", "+\t5", "\u{1}5", "-\u{2003}0x5", "\u{7F}-5", "\u{A0}5", "5\u{B}", "- -5", "0 5"].map {
            ("integer", $0)
        }
            + [
                "\0\0\0\0\0\0\0\01.5", "\u{1}-1.5", "\u{85}1.5", "\u{A0}\u{2003}1.5", "\u{FEFF}1.5", "+\01.5",
                "1.5\0", "\0", "\0x",
            ].map { ("real", $0) })
    func numbersAsFoundationReadsThem(_ element: String, _ text: String) {
        let document = Data("<plist><\(element)>\(text)</\(element)></plist>".utf8)
        let theirs = try? PropertyListSerialization.propertyList(from: document, format: nil) as? NSNumber
        #expect(theirs == (try? PropertyListCoder.decode(document).value.object as? NSNumber))
    }

    /// plistlib writes None as null, of which Foundation makes NSNull.
    @Test(.enabled(if: OtherReaders.has(OtherReaders.python, "plistlib"))) func aBinaryListWithNulls() throws {
        let write = "plistlib.dumps({'a': None, 'b': [1, None], 'c': 2}, fmt=plistlib.FMT_BINARY)"
        func run(_ script: String, on input: Data = Data()) throws -> Data {
            try OtherReaders.run(OtherReaders.python, ["-c", "import plistlib, sys; " + script], on: input)
        }
        let theirs = try run("sys.stdout.buffer.write(\(write))")
        let value = try PropertyListCoder.decode(theirs).value
        #expect(value == .dictionary(["a": .null, "b": .array([.integer(1), .null]), "c": .integer(2)]))
        let ours = try PropertyListCoder.encode(value, as: .binary)
        let read = try run("print(plistlib.load(sys.stdin.buffer) == plistlib.loads(\(write)))", on: ours)
        #expect(String(decoding: read, as: UTF8.self) == "True\n")
        let foundation = try PropertyListSerialization.propertyList(from: ours, format: nil) as? [String: Any]
        #expect(foundation?["a"] is NSNull && foundation?["c"] as? Int == 2)
    }

    /// A UID of a keyed archive stays one in binary, for every reader.
    @Test(.enabled(if: OtherReaders.has(OtherReaders.python, "plistlib"))) func keyedArchives() throws {
        let uids: [Any] = [0, 255, 256, 65_536, UInt64(UInt32.max)].map { KeyedArchiveUID(value: $0) }
        let ours = try PropertyListCoder.encode(objects: ["$top": ["root": uids[1]], "all": uids], as: .binary)
        let reading = try #require(try OtherReaders.plistlib([ours]).first)
        #expect(reading.form == OtherReaders.form(try PropertyListCoder.decode(ours).value.object))
        #expect(try OtherReaders.form(PropertyListCoder.decode(reading.binary).value.object) == reading.form)
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ["a", "b"] as NSArray, requiringSecureCoding: false)
        let rewritten = try PropertyListCoder.encode(
            objects: PropertyListCoder.decode(archive).value.object, as: .binary)
        let object = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, NSString.self], from: rewritten)
        #expect(object as? [String] == ["a", "b"])
    }
}
