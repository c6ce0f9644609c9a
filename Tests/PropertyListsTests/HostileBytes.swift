import Foundation
import PropertyListSupport
import Testing

/// Bytes, and the result of the coder.
struct Bytes: Sendable, CustomTestStringConvertible {
    let name: String
    let data: Data
    /// The reason of the rejection, or the exact form of the value.
    let verdict: String

    var testDescription: String { name }

    init(_ name: String, _ data: Data, _ verdict: String) {
        self.name = name
        self.data = data
        self.verdict = verdict
    }

    init(_ text: String, _ verdict: String) {
        self.init(String(text.prefix(60)), Data(text.utf8), verdict)
    }

    init(_ objects: [[UInt8]], _ verdict: String) {
        self.init("\(objects.map { $0.prefix(12) })", BinaryList(objects).data, verdict)
    }

    static let refused = foreign + nested + refusedBinary

    private static let foreign: [Bytes] =
        [
            Bytes("", "is empty")
        ]
        + [
            "a = b;", "\"text\"", "text", " ", "\u{0}", "\u{FEFF}\u{FEFF}<plist><true/></plist>",
        ].map { Bytes($0, "is neither a binary nor an XML property list") }
        + ["{ a = b; }", "{}", "{\"json\": 1}"].map { Bytes($0, "is text that begins with {, not a property list") }
        + ["()", "\u{FEFF}\r\n (1)"].map { Bytes($0, "is text that begins with (, not a property list") }
        + ["[]", "\u{FEFF}[1]"].map { Bytes($0, "is text that begins with [, not a property list") }
        + [
            Bytes(
                "<?xml encoding='US-ASCII'?><plist><string>é</string></plist>",
                "a byte that is not ASCII, which its declaration says it is"),
            Bytes(
                "<?xml \(String(repeating: " ", count: 1_000))?><plist><true/></plist>",
                "its XML declaration does not end within 1,000 bytes"),
        ]
        + [
            Bytes(
                "UTF-32", "<plist><true/></plist>".data(using: .utf32) ?? Data(),
                "expected UTF-8, UTF-16, Latin-1 or ASCII, found UTF-32"),
            Bytes(
                "an unpaired surrogate", Data([0xFF, 0xFE, 0x3C, 0, 0, 0xD8, 0x3E, 0]),
                "an unpaired surrogate in its UTF-16"),
            Bytes("half a unit", Data([0xFF, 0xFE, 0x3C, 0, 0x70]), "ends inside a character of UTF-16"),
        ]

    private static let nested: [Bytes] =
        [82, 83, 300, 100_000].map { Bytes(xml(lists: $0), tooDeep) } + [
            Bytes("<plist>" + String(repeating: "<dict><key>k</key>", count: 300), tooDeep),
            // `<!-->` opens a comment and does not close it, and `<?>` opens an instruction. The closing characters in
            // them are text.
            Bytes("<plist>" + nested("<array><!--></array>-->", "</array>") + "</plist>", tooDeep),
            Bytes("<plist>" + nested("<array><!---></array>-->", "</array>") + "</plist>", tooDeep),
            Bytes("<plist>" + nested("<array><?></array>?>", "</array>") + "</plist>", tooDeep),
            Bytes(
                "<?xml version=\"1.0\" encoding=\"UTF-7\"?><plist>" + nested("+ADw-array+AD4-", "+ADw-/array+AD4-")
                    + "</plist>", "expected UTF-8, UTF-16, Latin-1 or ASCII, found the encoding \"utf-7\""),
            Bytes(
                "<?xml encoding=encoding=\"latin1\"\"utf-8\"?><plist><string>é</string></plist>",
                "expected UTF-8, UTF-16, Latin-1 or ASCII, found the encoding \"latin1 and an unreadable one\""),
            Bytes(
                "<?xml encoding=\"latin1>\"?><plist><string>é</string></plist>",
                "expected UTF-8, UTF-16, Latin-1 or ASCII, found the encoding \"an unreadable one\""),
            Bytes(
                "<?xml encoding='utf-16'?><plist><true/></plist>",
                "its declaration says utf-16, but its bytes are not"),
            Bytes(
                "<plist><dict>\n<key>a</key><true/>\n<key>a</key><true/></dict></plist>",
                "the key \"a\" occurs twice, first in line 2"),
            Bytes(
                "<plist><dict><key/><array/>\n<key>b</key><dict><key/><true/></dict><key></key><true/></dict></plist>",
                "the key \"\" occurs twice, first in line 1"),
        ]

    private static let tooDeep = "nested deeper than 80 levels"

    private static func nested(_ start: String, _ end: String) -> String {
        String(repeating: start, count: 300) + String(repeating: end, count: 300)
    }

    /// XML that is cut off, or that no reader accepts.
    static let refusedXML = [
        "<plist>", "<plist><array>", "<plist><array></dict></plist>", "<plist><dict><key>k</key></dict></plist>",
        "<plist><integer>x</integer></plist>", "<plist><date>x</date></plist>", "<plist><unknown/></plist>",
        "<?xml", "<!--", "<!DOCTYPE", "<plist><string>&bad;</string></plist>", "<plist><data>=</data>",
        "<plist><string><![CDATA[</string></plist>", "<plist", "<plist><!--></plist>",
        "<!DOCTYPE plist [ <!-- > <![CDATA[ ]><plist><true/></plist>",
        "<!DOCTYPE plist [ <!ENTITY a \"]><plist><true/></plist>",
        "<plist></array></plist>", "<?xml?><?x", "<plist><plist><true/></plist></plist>", "<plist><key>a</key></plist>",
        "<plist><true/><true/></plist>", "<plist><true/></plist>x", "<plist><true/></plist><true/>",
        "<plist>x<true/></plist>",
        "<plist><dict><true/></dict></plist>", "<plist><dict><key>a</key><key>b</key></dict></plist>",
        "<plist><string>a & b</string></plist>", "<plist><string>&#xD800;</string></plist>",
        "<plist><string>&#+65;</string></plist>", "<plist><string>&#-0;</string></plist>",
        "<plist><string a=b>x</string></plist>",
        "<plist><string a='b\">x</string></plist>",
        "<plist><true>x</true></plist>", "<plist><integer/></plist>", "<plist><integer>- -5</integer></plist>",
        "<plist><integer>1_000</integer></plist>", "<plist><integer>0x</integer></plist>",
        "<plist><integer>1.0</integer></plist>",
        "<plist><integer>18446744073709551616</integer></plist>",
        "<plist><dict><key>CF$UID</key><real>5</real></dict></plist>",
        "<plist><dict><key>CF$UID</key><integer>4294967296</integer></dict></plist>",
        "<plist><dict><key>CF$UID</key><integer>-1</integer></dict></plist>",
        "<plist><real></real></plist>", "<plist><real>0x1p3</real></plist>", "<plist><real>1.5f</real></plist>",
        "<plist><real>1.2.3</real></plist>", "<plist><real>1,2,3</real></plist>", "<plist><real>nan(1)</real></plist>",
        "<plist><date>2001-02-30T00:00:00Z</date></plist>", "<plist><date>2001-01-01T24:00:00Z</date></plist>",
        "<plist><date>2001-01-01 00:00:00Z</date></plist>", "<plist><date>2001-1-1T0:0:0Z</date></plist>",
        "<plist><date>-T01-01T00:00:00Z</date></plist>", "<plist><date>99999999999-01-01T00:00:00Z</date></plist>",
        "<plist><data>AQI</data></plist>", "<plist><data>Aw9=</data></plist>", "<plist><data>AR==</data></plist>",
        "<plist><data>A!==</data></plist>",
        "<plist><String>x</String></plist>", "<plist><string>x</String></plist>", "<html/>",
    ].map { Bytes($0, "") }

    static let accepted = xml + encodings

    private static let xml: [Bytes] = [
        Bytes(xml(lists: 80), String(repeating: "[", count: 80) + String(repeating: "]", count: 80)),
        Bytes(levels(81), String(repeating: "[", count: 81) + String(repeating: "]", count: 81)),
        Bytes("\u{FEFF}<plist><true/></plist>", "true"), Bytes(" \r\n\t<plist><true/></plist>", "true"),
        Bytes("<!-- <array><array> --><plist><!-- </array> --><true/></plist>", "true"),
        Bytes("<?xml version='1.0' encoding='utf-8'?><plist><string>é</string></plist>", "'\\u{00E9}'"),
        Bytes("<?xml version=\"1.0\" encoding=\"US-ASCII\"?><plist><true/></plist>", "true"),
        Bytes(
            "Latin-1",
            Data("<?xml encoding=\"ISO-8859-1\"?><plist><string>".utf8) + [0xE9] + Data("</string></plist>".utf8),
            "'\\u{00E9}'"),
        Bytes(
            "<?xml version=\"1.0\"\(String(repeating: " ", count: 300))encoding=\"latin1\"?><plist><string>é</string></plist>",
            "'\\u{00C3}\\u{00A9}'"),
        Bytes(" <?xml encoding='latin1'?><plist><string>é</string></plist>", "'\\u{00E9}'"),
        Bytes("<plist><string><![CDATA[<array>&]]></string></plist>", "'<array>&'"),
        Bytes(
            "<plist><array>" + String(repeating: "<array/>", count: 300) + "</array></plist>",
            "[" + Array(repeating: "[]", count: 300).joined(separator: ", ") + "]"),
        Bytes(
            [
                [0xA2, 1, 2], [0x51, 0x61],
                [0x14] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0xFF, count: 8),
            ],
            "['a', 18446744073709551615]"),
        Bytes([[0x61, 0xD8, 0x00]], "'\\u{FFFD}'"),
        Bytes("<!DOCTYPE plist [ <!-- > <![CDATA[ --> <!ENTITY a \"]>\"> ]><plist><true/></plist>", "true"),
        Bytes("<!DOCTYPE plist SYSTEM 'a>b'><plist><true/></plist>", "true"), Bytes("<array/>", "[]"),
        Bytes("<plist><integer> 15\n</integer></plist>", "15"), Bytes("<plist><integer>-0x1F</integer></plist>", "-31"),
        Bytes("<plist><integer>+007</integer></plist>", "7"), Bytes("<plist><data/></plist>", "data "),
        Bytes("<plist><data> A Q\t=\r\n= </data></plist>", "data AQ=="),
        Bytes("<plist><data><![CDATA[AQ==]]></data></plist>", "data AQ=="),
        Bytes("<plist><string>a<!-- <b> -- & -->b<?pi </string> ?>c<![CDATA[&<]]></string></plist>", "'abc&<'"),
        Bytes("<plist><array><!-- c --><?pi x?><true></true></array></plist>\n<!-- end -->\n", "[true]"),
        Bytes(
            "<plist><dict><!-- c --><key>a<!-- c -->b</key><dict/><key/><string/></dict></plist>", "{'': '', 'ab': {}}"),
        Bytes("<plist><string a='b'>é&#xE9;&quot;&apos;</string></plist>", "'\\u{00E9}\\u{00E9}\\\"\\''"),
        Bytes(
            "<plist><array><real>1e3</real><real>inf</real></array></plist>",
            "[1000.0 (408f400000000000), inf (7ff0000000000000)]"),
        Bytes("<plist><true> \n</true></plist>", "true"), Bytes("<plist><string\n x='>' y=\"<\" /></plist>", "''"),
        Bytes("<plist><real> 0,10000000000000001 </real></plist>", "0.1 (3fb999999999999a)"),
        Bytes("<plist><real>0\u{66B}5</real></plist>", "0.5 (3fe0000000000000)"),
        Bytes("<plist><real>-Infinity</real></plist>", "-inf (fff0000000000000)"),
        Bytes("<plist><string>a\r\nb\rc&#13;</string></plist>", "'a\\r\\nb\\rc\\r'"),
        Bytes("<plist><string>\u{1}&#2;\u{FFFF}</string></plist>", "'\\u{01}\\u{02}\\u{FFFF}'"),
        Bytes("<plist><date>1-03-04T05:06:07Z</date></plist>", "date -63108528833.0 (c22d631f75820000)"),
        Bytes("<plist><date> -0001-01-01T00:00:00Z</date></plist>", "date -63177062400.0 (c22d6b4af0000000)"),
        Bytes(
            "UTF-16", "<plist><string>é\u{1F600}</string></plist>".data(using: .utf16) ?? Data(),
            "'\\u{00E9}\\u{0001F600}'"),
        Bytes(
            "UTF-16 without a mark", "<plist><true/></plist>".data(using: .utf16LittleEndian) ?? Data(), "true"),
        Bytes("UTF-16, the other way", "<plist><true/></plist>".data(using: .utf16BigEndian) ?? Data(), "true"),
        Bytes("<plist><dict><key>CF$UID</key><integer>5</integer></dict></plist>", "UID 5"),
        Bytes("<plist><dict><key>CF$UID</key><integer>1</integer></dict></plist>", "UID 1"),
        Bytes("<plist><dict><key>CF$UID</key><true/></dict></plist>", "{'CF$UID': true}"),
        Bytes("<plist><dict><key>CF$UID</key><integer>4294967295</integer></dict></plist>", "UID 4294967295"),
        // Characters that Foundation takes for blanks.
        Bytes("<plist><integer>\u{3000}-\u{2003} 5</integer></plist>", "-5"),
        Bytes("<plist><integer>+\u{7F}5</integer></plist>", "5"),
        Bytes("<plist><real>\u{A0}\u{FEFF}\u{85}\u{2003}1.5</real></plist>", "1.5 (3ff8000000000000)"),
    ]

    /// Every name of an encoding, in both cases of letters.
    private static let encodings: [Bytes] =
        ["utf-8", "UTF8", "us-ascii", "ASCII"].map { Bytes("<?xml encoding='\($0)'?><plist><true/></plist>", "true") }
        + ["iso-8859-1", "ISO_8859-1", "Latin1", "latin-1"].map { name in
            let text = Data("<?xml encoding='\(name)'?><plist><string>".utf8) + [0xE9] + Data("</string></plist>".utf8)
            return Bytes(name, text, "'\\u{00E9}'")
        }

    static func xml(lists: Int) -> String {
        "<plist>" + String(repeating: "<array>", count: lists) + String(repeating: "</array>", count: lists)
            + "</plist>"
    }
}
