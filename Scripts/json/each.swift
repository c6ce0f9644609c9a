// Lets JSONSerialization, JSONDecoder and JSONEncoder of the toolchain's Foundation read or write.
// usage: each LIBRARY read PATH … | LIBRARY write FOLDER PATH …
import Foundation

/// Any value of JSON.
enum Tree: Codable {
    case null, bool(Bool), integer(Int64), large(UInt64), real(Double), text(String), list([Tree]), object([String: Tree])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() { self = .null }
        else if let bool = try? value.decode(Bool.self) { self = .bool(bool) }
        else if let integer = try? value.decode(Int64.self) { self = .integer(integer) }
        else if let large = try? value.decode(UInt64.self) { self = .large(large) }
        else if let real = try? value.decode(Double.self) { self = .real(real) }
        else if let text = try? value.decode(String.self) { self = .text(text) }
        else if let list = try? value.decode([Tree].self) { self = .list(list) }
        else { self = .object(try value.decode([String: Tree].self)) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .large(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// What JSONSerialization has read.
    init(object: Any) {
        switch object {
        case is NSNull: self = .null
        case let text as String: self = .text(text)
        case let list as [Any]: self = .list(list.map(Tree.init(object:)))
        case let object as [String: Any]: self = .object(object.mapValues(Tree.init(object:)))
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .bool(number.boolValue)
            case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .real(number.doubleValue)
            case UInt8(ascii: "Q"): self = .large(number.uint64Value)
            default: self = .integer(number.int64Value)
            }
        default: self = .text("type \(type(of: object))")
        }
    }

    /// The form that compare.py reads.
    var canonical: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\"i\(value)\""
        case .large(let value): "\"i\(value)\""
        case .real(let value): "\"d\(Self.hex(value.bitPattern, 16))\""
        case .text(let value): "\"s\(value.utf8.map { Self.hex(UInt64($0), 2) }.joined())\""
        case .list(let values): "[\(values.map(\.canonical).joined(separator: ","))]"
        case .object(let values): "{\(values.map { "\(Tree.text($0).canonical):\($1.canonical)" }.joined(separator: ","))}"
        }
    }

    private static func hex(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: count - digits.count) + digits
    }
}

let words = Array(CommandLine.arguments.dropFirst())
let isSerialization = words[0] == "JSONSerialization"

func read(_ data: Data) throws -> Tree {
    try isSerialization ? Tree(object: JSONSerialization.jsonObject(with: data)) : JSONDecoder().decode(Tree.self, from: data)
}

func written(_ data: Data) throws -> [String: Data] {
    guard !isSerialization else {
        let object = try JSONSerialization.jsonObject(with: data)
        return try [
            "compact": JSONSerialization.data(withJSONObject: object),
            "pretty": JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]),
        ]
    }
    let encoder = JSONEncoder()
    let compact = try encoder.encode(read(data))
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try ["compact": compact, "pretty": encoder.encode(read(data))]
}

if words[1] == "read" {
    for path in words.dropFirst(2) {
        print((try? read(Data(contentsOf: URL(filePath: path))).canonical) ?? "refused")
    }
} else {
    for path in words.dropFirst(3) {
        let url = URL(filePath: path)
        for (style, data) in try written(Data(contentsOf: url)) {
            let name = "\(url.deletingPathExtension().lastPathComponent)-\(style).json"
            try data.write(to: URL(filePath: words[2]).appending(path: name))
        }
    }
}
