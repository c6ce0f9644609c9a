import Testing

@testable import PrefsTool

/// Decoding a terminal's bytes to keys.
@Suite struct EditorKeyTests {
    private static let table: [(bytes: String, keys: [Key])] = [
        ("aé日👍", [.text("a"), .text("é"), .text("日"), .text("👍")]),
        ("e\u{301}", [.text("e"), .text("\u{301}")]),
        (
            "\r\n\t\u{7F}\u{8}\u{1}\u{5}\u{C}\u{15}",
            [.enter, .enter, .tab, .backspace, .backspace, .home, .end, .redraw, .eraseLine]
        ),
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
        ("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD\u{1B}OH\u{1B}OF\u{1B}OM", [.up, .down, .right, .left, .home, .end, .enter]),
        ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", [.home, .end, .home, .end, .home, .end]),
        ("\u{1B}[3~\u{1B}[Z\u{1B}[1;5C\u{1B}[3;2~", [.delete, .backTab, .right, .delete]),
        ("\u{1B}[5~\u{1B}[6~\u{1B}[5;2~", [.pageUp, .pageDown, .pageUp]),
        // Unknown sequences produce no key.
        ("\u{1B}[15~\u{1B}[[A\u{1B}[I\u{1B}OPx\u{1B}[>0;1cy\u{2}\u{1C}", [.text("x"), .text("y")]),
        // Two keys in quick succession, and an interrupted sequence.
        ("\u{1B}q\u{1B}\u{1B}[A", [.escape, .text("q"), .escape, .up]),
        ("\u{1B}[1;\u{1B}[B\u{1B}[1\rz", [.down, .enter, .text("z")]),
        ("\u{1B}[200~a\r\nb\rc\u{1B}[A\u{1B}\u{1B}[201~q", [.paste("a\nb\nc\u{1B}[A\u{1B}"), .text("q")]),
        ("\u{1B}[200~\u{1B}[201~\u{1B}[200~é\u{1B}[201~", [.paste(""), .paste("é")]),
        ("\u{1B}[" + String(repeating: "1", count: 40), []),
    ]

    @Test(arguments: table.indices) func keysDoNotDependOnHowBytesAreSplit(index: Int) {
        let (text, keys) = Self.table[index]
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var decoder = KeyDecoder()
            let found = decoder.keys(from: bytes[..<cut]) + decoder.keys(from: bytes[cut...])
            #expect(found == keys, "cut at \(cut)")
        }
        var decoder = KeyDecoder()
        let found = bytes.flatMap { decoder.keys(from: [$0]) }
        #expect(found == keys)
        #expect(!decoder.hasPendingEscape)
    }

    @Test func invalidUTF8IsIgnored() {
        var decoder = KeyDecoder()
        let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x62, 0x80, 0xE0, 0x80, 0x80, 0xED, 0xA0, 0x80, 0xF5, 0x63]
        let keys = decoder.keys(from: bytes)
        #expect(keys == [.text("a"), .text("b"), .text("c")])
    }

    @Test func aLoneEscapeIsAKeyAfterATimeout() {
        var decoder = KeyDecoder()
        func expect(_ keys: [Key], _ hasPendingEscape: Bool = false) {
            #expect(keys == [] && decoder.hasPendingEscape == hasPendingEscape)
        }
        expect(decoder.keys(from: [0x1B]), true)
        let escape = decoder.keysAfterTimeout()
        #expect(escape == [.escape])
        expect(decoder.keysAfterTimeout())
        // A sequence that has begun is awaited without a timeout.
        expect(decoder.keys(from: [0x1B, 0x5B]))
        expect(decoder.keysAfterTimeout())
        let down = decoder.keys(from: [0x42])
        #expect(down == [.down])
        // In a paste, it is not a key.
        expect(decoder.keys(from: Array("\u{1B}[200~\u{1B}".utf8)))
    }
}
