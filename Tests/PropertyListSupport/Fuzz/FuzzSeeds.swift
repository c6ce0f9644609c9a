package import Foundation
import PrefsJSON
import PrefsPropertyLists

/// The seeds of the fuzzers: files that the library writes, and one value of each kind.
package enum FuzzSeeds {
    package static func bytes() throws -> [Data] {
        var seeds: [Data] = []
        for value in values {
            for format in [FileFormat].all {
                do {
                    seeds.append(try PropertyListCoder.encode(plain: ["root": ["key": value]], as: format))
                    seeds.append(try PropertyListCoder.encode(plain: value, as: format))
                } catch is PropertyListFailure where format == .plainXML {
                    // XML has no form for the value.
                } catch is ValueMismatch {
                    // Inside other values, the value is too deep to be stored.
                }
            }
        }
        return seeds + (xml + json).map { Data($0.utf8) } + objects.map(AssembledList.input) + [Data(deep)]
    }

    /// Each kind of value at the top and inside others, with rising and falling bytes after it in the input.
    package static func choices() -> [Data] {
        let odd = (0..<24).flatMap { (choice: UInt8) in
            // Each choice of kinds without parts, and each of the unusual dates.
            [0, 1, 2, 3, 5, 11, 19].map { Data([$0, choice, 3, 4, 5, 6, 7, 8, 9, 10]) } + [Data([0, 4, choice])]
        }
        // {"CF$UID": 1.0} and {"CF$UID": 7}.
        let loneNumbers = [Data([12, 1, 4, 1, 16, 2]), Data([12, 1, 4, 1, 5, 7])]
        return odd + loneNumbers
            + (0..<20).flatMap { (kind: UInt8) in
                [
                    Data([kind] + (0..<40)), Data([8, 3, kind] + (0..<60).reversed()),
                    Data([17, 0xF7, 8, kind] + (0..<30)), Data([10, 2, kind, 7, 12, 2, 4, kind, 1, 1, 1]),
                ]
            }
    }

    private static var values: [Any] {
        [
            true, NSNumber(value: -1), NSNumber(value: 1), NSNumber(value: 300), NSNumber(value: 1 << 40),
            NSNumber(value: UInt64.max), NSNumber(value: 1.5), NSNumber(value: -0.0), NSNumber(value: Double.nan),
            NSNumber(value: -Double.infinity), "text", "<\u{E9}&\u{1F600}>", "\u{FEFF}a", Data([0, 1, 254]),
            Date(timeIntervalSinceReferenceDate: 0.25), Date(timeIntervalSinceReferenceDate: -6e16), [Any](),
            [String: Any](), [true, "a", [NSNumber(value: 2), "a"] as [Any]] as [Any],
            ["a": "a", "b": ["c": Data(count: 20)] as [String: Any], "d": false] as [String: Any],
            (0..<20).map { NSNumber(value: $0) } as [Any], String(repeating: "long ", count: 60),
            (0..<156).reduce([Any]()) { list, _ in [list] },
            (0..<156).reduce([String: Any]()) { dictionary, _ in ["k": dictionary] },
        ]
    }

    private static let xml = [
        "<!-- a --><plist><!-- b --><array><string><![CDATA[<c>]]></string></array></plist>",
        "<?xml version='1.0' encoding='ISO-8859-1'?><plist><string>&#233;&#xE9;&lt;</string></plist>",
        "<plist><dict><key>CF$UID</key><integer>5</integer></dict></plist>",
        "<plist><array><integer>0x1F</integer><integer>-18446744073709551616</integer><real>nan</real></array></plist>",
        "<!DOCTYPE plist [ ]>\n<plist><date>2026-02-30T25:61:61Z</date></plist>",
    ]

    private static let json = [
        "{ /* x\n y */ \"b\": 2, // c\n \"l\": [1, /* z\n */ null, // {\r\n {\"n\": 1}, ], /* } */ }\n// end",
        "\u{FEFF}{\r\n\"\\u00e9\": [1e3, -0.0, 18446744073709551615], \"$$a\": {\"$double\": \"nan\"}}",
        "{\"a\": {\"$$b\": {\"$date\": 1e+16}}, \"c\": {\"$data\": \"AQ==\"}, \"d\": \"\\ud83d\\ude00\"} ",
    ]

    private static let objects: [[[UInt8]]] = [
        [[0xD2, 1, 2, 3, 4], [0x51, 0x61], [0x61, 0xD8, 0x00], [0x80, 5], [0xA2, 1, 5], [0x13] + many(0xFF, 8)],
        [[0xA3, 1, 2, 3], [0x33] + many(0x40, 8), [0x22, 0, 0, 0, 0], [0x14] + many(0, 8) + many(0xFF, 8)],
        [
            [0xAF, 0x10, 16] + many(1, 16), [0xAA] + many(2, 10), [0xD1, 3, 4], [0x51, 0x62], [0x4F, 0x10, 3, 1, 2, 3],
        ],
        [
            [0xA4, 1, 2, 3, 4], [0x54, 0xC3, 0xA9, 0xFF, 0x80], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0], [0x58, 0xFF],
            [0xA1, 0],
        ],
        [[0xAF, 0x10, 3, 1, 2, 3], [0x5C, 0xE9] + many(0xE9, 11), [0x51, 0x80], [0x52, 0x61, 0xFF]],
        [[0xA1, 1], [0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]], [[0xD1, 1, 1], [0x52, 0x80, 0x81]],
        [[0xA1, 1], [0xA2, 0, 2], [0x09]],
        [[0xA1, 1], [0x5F, 0x10, 200, 0x61]], [[0xD1, 1, 1], [0x10, 1]], [[0xA1, 1], [0x14] + many(0xFF, 16)],
        [[0xD1, 1, 2], [0x56] + Array("CF$UID".utf8), [0x10, 7]],
    ]

    /// Lists in lists, with references of two bytes: the second byte of the input.
    private static let deep: [UInt8] = {
        // One expression would take the compiler four seconds.
        let lists = (1...400).flatMap { number -> [UInt8] in [0xA1, UInt8(number >> 8), UInt8(number & 0xFF)] }
        return [0, 1] + lists + [0xA0]
    }()

    private static func many(_ byte: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }
}
