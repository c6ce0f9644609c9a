import Foundation
import PersistentPreferences

enum TextSize: String, CaseIterable, Codable { case small, large }
enum TextLevel: Int, CaseIterable { case low = 1, high = 10 }
/// An enum without raw values, encoded as `{"light": {}}`.
enum TextMode: Codable, CaseIterable { case light, dark }
/// Accepts more values than it lists.
struct TextChannel: RawRepresentable, CaseIterable, Codable, Equatable {
    static let allCases = [TextChannel(rawValue: "news")]
    var rawValue: String
}
/// Encodes itself as a text or as a number.
enum TextWidth: Codable, Equatable {
    case automatic
    case fixed(Int)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard text == "auto" else { throw CocoaError(.coderInvalidValue) }
            self = .automatic
        } else {
            self = .fixed(try container.decode(Int.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .automatic: try container.encode("auto")
        case .fixed(let width): try container.encode(width)
        }
    }
}
struct TextServer: Codable, Equatable {
    var host = "localhost"
    var port: UInt16 = 80
    var size = TextSize.small
    var user: String?
    var started: Date?
    var ratio = 1.5
    var paths = ["a": [1]]
    var next: [TextServer]?
}

/// A property of each kind of type.
final class EveryTypePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var int = 1
    @Pref var int8: Int8 = 1
    @Pref var int16: Int16 = 1
    @Pref var int32: Int32 = 1
    @Pref var int64: Int64 = 1
    @Pref var uint: UInt = 1
    @Pref var uint8: UInt8 = 1
    @Pref var uint16: UInt16 = 1
    @Pref var uint32: UInt32 = 1
    @Pref var uint64: UInt64 = 1
    @Pref var double = 1.0
    @Pref var float: Float = 1
    @Pref var bool = false
    @Pref var string = "x"
    @Pref var date = Date(timeIntervalSinceReferenceDate: 0)
    @Pref var data = Data()
    @Pref var url = URL(filePath: "/")
    @Pref var uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    @Pref var decimal = Decimal(1)
    @Pref var size = TextSize.small
    @Pref var level = TextLevel.low
    @Pref var mode = TextMode.light
    @Pref var channel = TextChannel(rawValue: "news")
    @Pref var width = TextWidth.fixed(3)
    @Pref var server = TextServer()
    @Pref var optionalInt: Int?
    @Pref var optionalString: String?
    @Pref var optionalBool: Bool? = true
    @Pref var optionalData: Data?
    @Pref var optionalSize: TextSize?
    @Pref var optionalServer: TextServer?
    @Pref var doubleOptional: Int?? = .some(nil)
    @Pref var strings: [String] = []
    @Pref var doubles: [Double] = [1]
    @Pref var modes: [TextMode] = []
    @Pref var optionals: [TextSize?] = []
    @Pref var servers = [TextServer()]
    @Pref var set: Set<Int> = []
    @Pref var table: [String: [Data]] = [:]
    @Pref var bySize: [TextSize: Int] = [:]
    @Pref var anything: [String: Any] = [:]
    @Pref("$lone") var lone = 1
    @Pref var numbers: [Int] = []
    @Pref var names: Set<String> = []
    @Pref var words = ["a"]
    @Pref var wait = Duration.zero
    @Pref(.in(8...72)) var points = 12
    @Pref(.length(1...)) var name = "n"
    @Pref(.in(["de", "en"])) var language = "en"
    @Pref(.in([1.5, 2.0])) var factor: Double? = nil
    @Pref(.check { $0 == nil ? "must not be nil" : nil }) var needed: Int? = 1
    @Pref(.check { $0 == .dark ? "must not be dark" : nil }) var lightMode = TextMode.light
    /// Has no declaration.
    override var allowedKeys: [String] { ["free"] }

    /// Values of each property, as stored.
    static var samples: [(key: String, values: [Any])] {
        [
            ("int", [0, -1, Int.min, Int.max, 4.0]), ("int8", [Int8.min, Int8.max]), ("int16", [Int16.min, Int16.max]),
            ("int32", [Int32.min, Int32.max]), ("int64", [Int64.min, Int64.max]), ("uint", [UInt.max]),
            ("uint8", [0, 255]),
            ("uint16", [UInt16.max]), ("uint32", [UInt32.max]), ("uint64", [UInt64.min, UInt64.max]),
            (
                "double",
                [
                    0.0, -0.0, 0.1, 1e22, Double.leastNonzeroMagnitude, Double.greatestFiniteMagnitude, Double.nan,
                    Double.infinity,
                    -Double.infinity, 7,
                ]
            ), ("float", [0.1, Double(Float(0.1)), Double.infinity, 3]), ("bool", [true, false, 0, 1]),
            (
                "string",
                ["", "x", " a ", "null", "true", "42", "a,b", "[1]", "{}", "\"q\"", "two\nlines", "é", "$null"]
            ),
            (
                "date",
                [
                    Date(timeIntervalSinceReferenceDate: 0.25), Date.distantPast, Date.distantFuture,
                    Date(timeIntervalSinceReferenceDate: -0.0), Date(timeIntervalSinceReferenceDate: 1e16),
                ]
            ), ("data", [Data(), Data("Hello".utf8), Data([0x9E, 0xE9, 0x65]), Data(repeating: 0xD3, count: 6)]),
            ("url", ["https://a.org/b?c=d,e", "file:///x%20y", "null", ["relative": "b", "base": "https://a.org/"]]),
            ("uuid", ["00010203-0405-0607-0809-0A0B0C0D0E0F", "00010203-0405-0607-0809-0a0b0c0d0e0f"]),
            ("decimal", ["1.10", "-0.000000000000000000000000000001", "NaN", 12, 0.5]), ("size", ["small", "large"]),
            ("level", [1, 10, 10.0]), ("mode", [["light": [String: Any]()], ["dark": [String: Any]()]]),
            ("channel", ["news", "sport", ""]), ("width", ["auto", 12]),
            (
                "server",
                [
                    ["host": "h", "port": 1, "size": "large", "ratio": 2, "paths": ["b": [Int]()]],
                    [
                        "host": "$null$", "port": 65_535, "size": "small", "ratio": Double.nan,
                        "paths": [String: Any](),
                        "user": "u", "started": Date(timeIntervalSinceReferenceDate: 5), "extra": [Data()],
                        "next": [["host": "n", "port": 2, "size": "small", "ratio": 1.5, "paths": [String: Any]()]],
                    ], ["port": 3],
                ]
            ), ("optionalInt", [5]), ("optionalString", ["null", "", "$null"]), ("optionalBool", [false, 1]),
            ("optionalData", [Data([0x9E, 0xE9, 0x65]), Data()]), ("optionalSize", ["large"]),
            (
                "optionalServer",
                [["host": "h", "port": 1, "size": "large", "ratio": 2, "paths": [String: Any](), "user": "u"]]
            ), ("doubleOptional", [3, "$null"]),
            ("strings", [[String](), ["a,b", "c"], [""], ["a", "b"], ["1"], ["$null"]]),
            ("doubles", [[1, 2.5, Double.nan, -Double.infinity], [Double]()]),
            ("modes", [[["light": [String: Any]()], ["dark": [String: Any]()]]]), ("optionals", [["small", "$null"]]),
            ("servers", [[["host": "h", "port": 1, "size": "large", "ratio": 2, "paths": [String: Any]()]]]),
            ("set", [[1, 2], [2, 2, 1]]), ("table", [["a": [Data("x".utf8)], "$b": [Data]()], ["$date": [Data]()]]),
            ("bySize", [["small": 1], ["large", 2]]),
            (
                "anything",
                [
                    ["a": [1, 2.5, true, "x", Date(timeIntervalSinceReferenceDate: 1), Data(), ["$data": "y"]]],
                    ["$x": 1],
                ]
            ), ("$lone", [5]), ("numbers", [[1, -2], [Int]()]), ("names", [["a"], ["a,b", ""]]),
            ("words", [["b"], [String]()]), ("wait", ["PT1M30S", 1.5]), ("points", [8, 72]), ("name", [" ", "null"]),
            ("language", ["de"]), ("factor", [1.5, 2]), ("needed", [0]), ("lightMode", [["light": [String: Any]()]]),
        ]
    }
}
