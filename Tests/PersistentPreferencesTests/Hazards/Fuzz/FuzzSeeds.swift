import Foundation

@testable import PersistentPreferences

/// Where the fuzzers begin: files that the library writes, and one value of each kind.
enum FuzzSeeds {
    static func bytes() throws -> [Data] {
        var seeds: [Data] = []
        for value in values {
            for format in PropertyListFormat.allCases {
                seeds.append(try PropertyListCoder.encode(["root": ["key": value]], as: format))
                seeds.append(try PropertyListCoder.encode(value, as: format))
            }
        }
        return seeds + xml.map { Data($0.utf8) } + objects.map(AssembledList.input)
    }

    /// Each kind of value first and inside others, with what follows it in the input going up and down.
    static func choices() -> [Data] {
        (0..<20).flatMap { (kind: UInt8) in
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

    private static let objects: [[[UInt8]]] = [
        [[0xD2, 1, 2, 3, 4], [0x51, 0x61], [0x61, 0xD8, 0x00], [0x80, 5], [0xA2, 1, 5], [0x13] + many(0xFF, 8)],
        [[0xA3, 1, 2, 3], [0x33] + many(0x40, 8), [0x22, 0, 0, 0, 0], [0x14] + many(0, 8) + many(0xFF, 8)],
        [
            [0xAF, 0x10, 16] + many(1, 16), [0xAA] + many(2, 10), [0xD1, 3, 4], [0x51, 0x62], [0x4F, 0x10, 3, 1, 2, 3],
        ],
        [[0xD1, 1, 2], [0x56] + Array("CF$UID".utf8), [0x10, 7]],
    ]

    private static func many(_ byte: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }
}
