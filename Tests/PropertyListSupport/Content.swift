import Foundation
import PrefsPropertyLists

/// A value in canonical form, to be written and read.
package struct Content: @unchecked Sendable, CustomStringConvertible {
    package let value: Any

    package var description: String { String(exactForm(value).prefix(60)) }

    /// The value by itself and inside others.
    package func lists() throws -> [Any] {
        try [value, [value], ["k": value], [["k": [value, "x"] as [Any]]]].map {
            try PropertyListVetter.storedObject(of: $0).get()
        }
    }

    package init(_ value: Any) {
        self.value = value
    }

    package init(seconds: Double) {
        self.init(Date(timeIntervalSinceReferenceDate: seconds))
    }

    package static let all = inXML + notInXML

    /// The values that every reader of XML reads as equal values.
    package static let inXML = likeFoundations + reals + unusual

    /// The values that Foundation's writer writes as this package does.
    package static let likeFoundations: [Content] =
        [
            Content("a"), Content(""), Content("<&>\"'"), Content("é\u{1F600}"), Content("line\nline"), Content(" a\t"),
            Content(true), Content(false), Content(NSNumber(0)), Content(NSNumber(-1)),
            Content(NSNumber(value: Int.max)),
            Content(NSNumber(value: Int.min)), Content(NSNumber(value: UInt64.max)), Content([Any]()),
            Content([String: Any]()),
            Content(["a": [Any](), "b": [String: Any](), "c": [["d": "e"]]] as [String: Any]),
            Content([[[[[[[[[[[["x", Data(repeating: 9, count: 100)] as [Any]]]]]]]]]]]]),
            Content(Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 as Any) })), Content(seconds: 0),
            Content(seconds: 0.999), Content(seconds: -0.001),
            Content(seconds: -978_307_200.25), Content(Date.distantFuture),

        ] + data + dates

    private static let unusual: [Content] = [
        Content(NSNumber(value: -0.0)), Content("a\u{FEFF}"), Content("\u{7F}\u{85}\u{9B}\u{2028}\u{FFFD}"),
        Content("\r\n\r"), Content(["\r": "\r", "": "", "\r\n": "\n"]), Content("e\u{301}"),
        Content("\u{1FFFE}\u{10FFFF}"),
        Content(String(repeating: "long", count: 50_000)), Content([String(repeating: "k", count: 100_000): true]),
    ]

    package static let notInXML: [Content] = [
        Content(seconds: 5e16), Content(seconds: -5e16), Content(seconds: 6e16), Content(seconds: -6e16),
        Content(seconds: 4e16), Content(seconds: 1e15), Content(seconds: 252_423_993_600),
        Content(seconds: -63_114_076_801), Content("\u{FEFF}"), Content("\u{FEFF}a"), Content("\u{FEFF}\u{FEFF}a"),
        Content(["\u{FEFF}a": "b", "a": "b"]), Content("\u{0}"), Content("a\u{1}"), Content("\u{1F}"), Content("\u{B}"),
        // Dates of the year 0 by the calendar of ISO 8601.
        Content(Date.distantPast), Content(["\u{0}": "x"]), Content("\u{FFFE}"), Content("a\u{FFFF}b"),
    ]

    /// Enough keys to show the order in which they are written.
    private static let keys = [
        "b", "a", "B", "Z", "10", "9", "_", "", "ss", "ß", "e\u{301}", "\u{E9}z", "\u{1F600}", "\u{FFFD}", "\u{E000}",
    ]

    private static let reals: [Content] = [
        0, 1, 1.5, -2.25, 100, 0.1, 1.0 / 3, 1e-5, 0.0001, 1e15, 1e16, 1e17, 123_456_789_012_345_680, 1e21, 1e22, 1e100,
        .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi, .nan, .infinity, -.infinity,
    ].map { Content(NSNumber(value: $0 as Double)) }

    private static let data: [Content] = [0, 1, 2, 3, 4, 11, 48, 51, 52, 54, 55, 57, 58, 114, 1_000, 100_000].map {
        Content(Data((0..<$0).map { (index: Int) in UInt8(truncatingIfNeeded: index &* 7) }))
    }

    /// Dates around leap days, ends of years and centuries, and the year 0.
    private static let dates: [Content] = [
        "0001-01-02", "0004-02-29", "0100-02-28", "1582-10-15", "1600-02-29", "1700-03-01", "1899-12-31", "1900-02-28",
        "2000-02-29", "2024-12-31", "9999-12-31",
    ].compactMap { day in
        let xml = Data("<plist><date>\(day)T23:59:59Z</date></plist>".utf8)
        return (try? PropertyListSerialization.propertyList(from: xml, options: [], format: nil)).map { Content($0) }
    }
}
