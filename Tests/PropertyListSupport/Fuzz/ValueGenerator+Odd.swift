import Foundation

extension ValueGenerator {
    // MARK: - What is refused

    mutating func refused() -> GeneratedValue {
        .refused(choices.element(of: Self.wrongTypes)())
    }

    /// Excludes Substring and CGFloat, which Foundation's containers convert to a text and a number.
    private static var wrongTypes: [() -> Any] {
        [
            { NSNull() }, { UUID() }, { URL(fileURLWithPath: "/a") }, { NSURL(fileURLWithPath: "/a") }, { Set([1]) },
            { NSSet(object: 1) }, { [1, 2].dropFirst() }, { ContiguousArray([1]) }, { Character("a") },
            { Decimal(1) }, { NSDecimalNumber(string: "1.1") }, { { 1 } as () -> Int },
            { (1, "a") }, { Int.self }, { Oddity.payload(["k": 1]) }, { Oddity.empty }, { Record(list: [1]) },
            { NSObject() }, { 0..<1 }, { DateComponents(year: 2026) }, { Int?.none as Any }, { Any??.some(nil) as Any },
            { [1, nil] as [Int?] }, { ["a": nil] as [String: Int?] }, { AnyHashable(UUID()) },
            { AnyHashable(Int?.none) }, { [AnyHashable(Oddity.empty)] }, { ["k": [Record(list: [])]] },
        ]
    }

    // MARK: - What is accepted in unusual types

    mutating func hashable() -> GeneratedValue {
        switch choices.byte() % 6 {
        case 0:
            let word = word()
            return GeneratedValue(value: AnyHashable(word), expected: word, cost: 18 + word.utf16.count * 2)
        case 1:
            let number = choices.number(Int.self)
            return GeneratedValue(value: AnyHashable(number), expected: NSNumber(value: number), cost: 18)
        case 2: return GeneratedValue(value: AnyHashable(true), expected: true, cost: 18)
        case 3:
            let word = word()
            return GeneratedValue(
                value: AnyHashable([word, word]), expected: [word, word] as [Any], depth: 1,
                cost: 36 + word.utf16.count * 4)
        case 4:
            return GeneratedValue(
                value: AnyHashable(["k": Int?.some(1)]), expected: ["k": NSNumber(value: 1)] as [String: Any], depth: 1,
                cost: 40)
        default:
            let date = Date(timeIntervalSinceReferenceDate: Double(choices.number(Int32.self)) / 4)
            return GeneratedValue(value: AnyHashable(date), expected: date, cost: 18)
        }
    }

    mutating func typedArray() -> GeneratedValue {
        let bytes = choices.bytes(Int(choices.byte()))
        let numbers = bytes.map { NSNumber(value: $0) } as [Any]
        let cost = 9 + 18 * bytes.count
        switch choices.byte() % 6 {
        case 0: return GeneratedValue(value: bytes, expected: numbers, depth: 1, cost: cost)
        case 1:
            return GeneratedValue(value: bytes.map { Int?.some(Int($0)) }, expected: numbers, depth: 1, cost: cost)
        case 2:
            let texts = bytes.map { String(UnicodeScalar($0)) }
            return GeneratedValue(value: texts, expected: texts as [Any], depth: 1, cost: cost)
        case 3:
            let flags = bytes.map { $0 & 1 == 1 }
            return GeneratedValue(value: flags, expected: flags as [Any], depth: 1, cost: cost)
        case 4:
            return GeneratedValue(
                value: [bytes, bytes], expected: [numbers, numbers] as [Any], depth: 2, cost: 2 * cost)
        default:
            let reals = bytes.map { NSNumber(value: Double($0)) } as [Any]
            return GeneratedValue(
                value: ["k": bytes.map { Float($0) }], expected: ["k": reals] as [String: Any], depth: 2,
                cost: cost + 20)
        }
    }

    mutating func emptyContainer() -> GeneratedValue {
        let (list, dictionary) = ([Any](), [String: Any]())
        let all: [(value: Any, expected: Any)] = [
            ([Int](), list), (NSArray(), list), (NSMutableArray(), list), ([UUID](), list),
            ([String: Int](), dictionary), (NSDictionary(), dictionary), (NSMutableDictionary(), dictionary),
            ([Int: UUID](), dictionary),
        ]
        let (value, expected) = choices.element(of: all)
        return GeneratedValue(value: value, expected: expected, depth: 1)
    }
}

private enum Oddity: Hashable {
    case empty
    case payload([String: Int])
}

private struct Record {
    let list: [Int]
}
