import Foundation

/// An input of the fuzzer, as decisions. Bytes after its end are 0.
struct Choices {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: Data) {
        self.bytes = [UInt8](bytes)
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return isAtEnd ? 0 : bytes[position]
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
        var result: Number = 0
        for _ in 0..<(Number.bitWidth / 8) {
            result = Number.bitWidth == 8 ? 0 : result << 8
            result |= Number(truncatingIfNeeded: byte())
        }
        return result
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<min(count, max(0, bytes.count - position))).map { _ in byte() }
    }

    mutating func element<Element>(of list: [Element]) -> Element {
        list[Int(byte()) % list.count]
    }
}
