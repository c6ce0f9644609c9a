import Foundation
import PropertyListSupport

extension UnstorableValue {
    /// Objects whose overridden methods report sizes, types or keys that cannot be true.
    static let lies: [UnstorableValue] = texts + arrays + dictionaries + data + others

    private static func implausible(_ report: String) -> String {
        "\(report) cannot be stored in a property list"
    }

    /// Objects that report impossible sizes, and sizes beyond the limit.
    private static func lyingSizes(_ report: String, tooLarge large: Int, _ make: @escaping (Int) -> Any)
        -> [UnstorableValue]
    {
        ([-1, .min] as [Int]).map { size in
            UnstorableValue("\(report) of \(size)", implausible("\(report) of \(size)")) { make(size) }
        } + ([.max, large] as [Int]).map { size in UnstorableValue("\(report) of \(size)", tooLarge) { make(size) } }
    }

    private static let texts = lyingSizes("an NSString that reports a length", tooLarge: (4 << 20) + 1) {
        UnitsText([0x61], reportedLength: $0)
    }

    private static let arrays: [UnstorableValue] =
        lyingSizes("an NSArray that reports a count", tooLarge: 1 << 19) { LyingArray(count: $0) } + [
            UnstorableValue("mutable array of count -1", implausible("an NSArray that reports a count of -1")) {
                LyingMutableArray()
            },
            UnstorableValue("array of lying texts", at: "[0]", implausible("an NSString that reports a length of -1")) {
                LyingArray(count: 1, element: UnitsText([0x61], reportedLength: -1))
            },
            UnstorableValue("array in an NSArray", at: "[0]", implausible("an NSArray that reports a count of -1")) {
                NSArray(object: LyingArray(count: -1))
            },
        ]

    private static let dictionaries: [UnstorableValue] =
        lyingSizes("an NSDictionary that reports a count", tooLarge: 1 << 19) {
            LyingDictionary(count: $0, keys: .endless)
        } + [
            UnstorableValue("dictionary with a lying key", implausible("an NSString that reports a length of -1")) {
                LyingDictionary(count: 1, keys: .these([UnitsText([0x61], reportedLength: -1)]))
            },
            UnstorableValue("dictionary with a key too long", tooLarge) {
                LyingDictionary(count: 1, keys: .these([UnitsText([0x61], reportedLength: .max)]))
            },
            UnstorableValue("dictionary of lying data", at: ".k", implausible("an NSData that reports a length of -1"))
            {
                LyingDictionary(count: 1, keys: .these(["k"]), value: LyingData(length: -1))
            },
        ]

    private static let data: [UnstorableValue] =
        lyingSizes("an NSData that reports a length", tooLarge: 4 << 20) { LyingData(length: $0) } + [
            UnstorableValue("data in an NSArray", at: "[0]", implausible("an NSData that reports a length of -1")) {
                NSArray(object: LyingData(length: -1))
            }
        ]

    private static let others: [UnstorableValue] = [
        UnstorableValue("NSDate subclass, infinite", "a date must be finite") { LyingDate() },
        UnstorableValue("NSSet subclass", implausible("a LyingSet") + "; convert it to Array") { LyingSet() },
        UnstorableValue("collection", implausible("an EndlessCollection")) { EndlessCollection() },
        UnstorableValue("collection in AnyHashable", implausible("an EndlessCollection")) {
            AnyHashable(EndlessCollection())
        },
    ]
}

final class LyingArray: NSArray {
    private var reported = 0
    private var element: Any = NSNumber(value: 1)

    convenience init(count: Int, element: Any = NSNumber(value: 1)) {
        self.init()
        (reported, self.element) = (count, element)
    }

    override var count: Int { reported }

    override func object(at index: Int) -> Any { element }
}

private final class LyingMutableArray: NSMutableArray {
    override var count: Int { -1 }
    override func object(at index: Int) -> Any { "x" }
}

final class LyingDictionary: NSDictionary {
    enum Keys {
        case these([Any])
        /// A new object at each call.
        case endless
    }

    private var reported = 0
    private var keys = Keys.endless
    private var value: Any?

    convenience init(count: Int, keys: Keys, value: Any? = NSNumber(value: 1)) {
        self.init()
        (reported, self.keys, self.value) = (count, keys, value)
    }

    override var count: Int { reported }

    override func keyEnumerator() -> NSEnumerator { KeyEnumerator(keys) }

    override func object(forKey key: Any) -> Any? { value }

    private final class KeyEnumerator: NSEnumerator {
        private let keys: Keys
        private var number = 0

        init(_ keys: Keys) {
            self.keys = keys
        }

        override func nextObject() -> Any? {
            defer { number += 1 }
            switch keys {
            case .these(let keys): return number < keys.count ? keys[number] : nil
            case .endless: return "k\(number)"
            }
        }
    }
}

final class LyingData: NSData {
    private var reported = 0

    convenience init(length: Int) {
        self.init()
        reported = length
    }

    override var length: Int { reported }

    override var bytes: UnsafeRawPointer { storage.bytes }

    private let storage = NSData(bytes: [0x61, 0x62] as [UInt8], length: 2)
}

private final class LyingDate: NSDate, @unchecked Sendable {
    override var timeIntervalSinceReferenceDate: TimeInterval { .infinity }
}

private final class LyingSet: NSSet {
    override var count: Int { -1 }
}

/// A Swift collection that no property list can hold, with any count.
private struct EndlessCollection: RandomAccessCollection, Hashable, CustomReflectable {
    var startIndex: Int { 0 }
    var endIndex: Int { .max }
    subscript(index: Int) -> Int { index }
    var customMirror: Mirror { Mirror(self, unlabeledChildren: self, displayStyle: .collection) }
}
