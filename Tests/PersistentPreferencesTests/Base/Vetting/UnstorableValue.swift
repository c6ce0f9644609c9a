import Foundation
import PropertyListSupport
import Testing

@testable import PrefsPropertyLists

/// Why a value under the key `a` is rejected; empty if it can be stored.
func refusals(of value: Any) -> [String] {
    guard case .failure(let refusal) = PropertyListVetter.storedObject(of: value) else { return [] }
    return refusal.failures(forKey: "a").map(\.description)
}

/// A value that cannot be stored in a property list, or exceeds a limit.
struct UnstorableValue: @unchecked Sendable, CustomTestStringConvertible {
    let name: String
    let value: () -> Any
    /// The path of the invalid part in the value.
    let path: String
    let reason: String

    var testDescription: String { name }

    init(_ name: String, at path: String = "", _ reason: String, _ value: @escaping () -> Any) {
        self.name = name
        self.value = value
        self.path = path
        self.reason = reason
    }

    /// A value that a property list has no type for.
    static func unknown(_ noun: String, _ remedy: String? = nil, _ value: @escaping () -> Any) -> UnstorableValue {
        UnstorableValue(noun, "\(noun) cannot be stored in a property list" + (remedy.map { "; \($0)" } ?? ""), value)
    }

    static let all = noType + dates + numbers + keys + inside + sizes + lies

    private static let noType: [UnstorableValue] = [
        .unknown("a NSObject") { NSObject() },
        .unknown("a Widget") { Widget() },
        .unknown("a Point") { Point(x: 1) },
        .unknown("the enum Shade") { Shade.dark },
        .unknown("the enum Named") { Named.dark },
        .unknown("a tuple") { (1, "a") },
        .unknown("an Int.Type") { Int.self },
        .unknown("a closure") { { 1 } as () -> Int },
        .unknown("a closure") {
            { @Sendable (_: Int) async throws -> Void in } as @Sendable (Int) async throws -> Void
        },
        .unknown("nil") { String?.none as Any },
        .unknown("nil") { Int??.some(.none) as Any },
        .unknown("nil") { AnyHashable(Int?.none) },
        .unknown("NSNull", "remove the key") { NSNull() },
        .unknown("a CGFloat", "convert it to Double") { CGFloat(1.5) },
        .unknown("a Character", "convert it to String") { Character("a") },
        .unknown("a Substring", "convert it to String") { "abc".dropFirst() },
        .unknown("a Set<Int>", "convert it to Array") { Set([1]) },
        .unknown("a NSSet", "convert it to Array") { NSSet(object: 1) },
        .unknown("an ArraySlice<Int>", "convert it to Array") { [1, 2].dropFirst() },
        .unknown("a ContiguousArray<Int>", "convert it to Array") { ContiguousArray([1]) },
        .unknown("a UUID", "store its uuidString") { UUID() },
        .unknown("a UUID", "store its uuidString") { NSUUID() },
        .unknown("a URL", "store its absoluteString") { URL(fileURLWithPath: "/a") },
        .unknown("a URL", "store its absoluteString") { NSURL(fileURLWithPath: "/a") },
        .unknown("a Range<Int>") { 0..<1 },
        .unknown("a DateComponents") { DateComponents(year: 2026) },
        .unknown("a Point") { Point?.some(Point(x: 1)) as Any },
        .unknown("the enum Shade") { AnyHashable(Shade.dark) },
    ]

    private static let dates: [UnstorableValue] = [
        UnstorableValue("date NaN", "a date must be finite") { Date(timeIntervalSinceReferenceDate: .nan) },
        UnstorableValue("date +inf", "a date must be finite") { Date(timeIntervalSinceReferenceDate: .infinity) },
        UnstorableValue("date -inf", "a date must be finite") { Date(timeIntervalSinceReferenceDate: -.infinity) },
        UnstorableValue("NSDate NaN", "a date must be finite") { NSDate(timeIntervalSinceReferenceDate: .nan) },
        UnstorableValue("date beyond XML", "a date this far away cannot be stored in a property list") {
            Date(timeIntervalSinceReferenceDate: 6.8e16)
        },
        UnstorableValue("date before XML", "a date this far away cannot be stored in a property list") {
            Date(timeIntervalSinceReferenceDate: (-6e16).nextDown)
        },
    ]

    private static let numbers: [UnstorableValue] = [
        UnstorableValue("Decimal", decimal) { Decimal(1.1) },
        UnstorableValue("NSDecimalNumber", decimal) { NSDecimalNumber(string: "1.1") },
        UnstorableValue("whole NSDecimalNumber", decimal) { NSDecimalNumber(value: 1) },
    ]

    private static let decimal = "a Decimal would lose digits in a property list; store its description"

    private static let keys: [UnstorableValue] = [
        UnstorableValue("Int key", key("Int")) { [1: "a"] },
        UnstorableValue("AnyHashable key", key("Int")) { [AnyHashable(1): "a"] },
        UnstorableValue("enum key", key("Shade")) { [Shade.dark: 1] },
        UnstorableValue("NSNumber key", key("NSNumber")) { NSDictionary(object: "a", forKey: NSNumber(value: 1)) },
        UnstorableValue("two spellings of a key", at: ".e\u{301}", "two keys differ only in their Unicode spelling") {
            TwoSpellings()
        },
        UnstorableValue("lone CF$UID", loneUID) { ["CF$UID": 5] },
        UnstorableValue("lone CF$UID, unsigned", loneUID) { ["CF$UID": UInt64.max] as [AnyHashable: Any] },
        UnstorableValue("lone CF$UID, real", loneUID) { ["CF$UID": 5.0] },
        UnstorableValue("lone CF$UID, NSDictionary", loneUID) {
            NSMutableDictionary(object: NSNumber(value: 5), forKey: "CF$UID" as NSString)
        },
    ]

    private static func key(_ type: String) -> String {
        "a key of type \(type) cannot be stored in a property list; keys are strings"
    }

    private static let loneUID = "a dictionary of a lone number CF$UID cannot be stored in a property list"

    private static let inside: [UnstorableValue] = [
        UnstorableValue("unpaired surrogate", surrogate) { UnitsText([0x61, 0xD800]) },
        UnstorableValue("unpaired surrogate in NSArray", at: "[0]", surrogate) {
            NSArray(object: UnitsText([0xDC00, 0x61]))
        },
        UnstorableValue("typed array of closures", at: "[0]", "a closure cannot be stored in a property list") {
            [{ 1 }] as [() -> Int]
        },
        UnstorableValue("array of optionals", at: "[1]", "nil cannot be stored in a property list") {
            [1, nil, 3] as [Int?]
        },
        UnstorableValue("dictionary of optionals", at: ".b", "nil cannot be stored in a property list") {
            ["a": 1, "b": nil] as [String: Int?]
        },
        UnstorableValue("struct in NSMutableArray", at: "[0]", "a Point cannot be stored in a property list") {
            NSMutableArray(object: Point(x: 1))
        },
        UnstorableValue("dotted path", at: ".a.b[0].c", "the enum Shade cannot be stored in a property list") {
            ["a": ["b": [["c": Shade.dark]]]]
        },
    ]

    private static let surrogate = "a string with an unpaired surrogate cannot be stored in a property list"

    private static let sizes: [UnstorableValue] = [
        UnstorableValue("text over 4 MiB", tooLarge) { String(repeating: "x", count: 4 << 20) },
        UnstorableValue("data over 4 MiB", tooLarge) { Data(count: 4 << 20) },
        UnstorableValue("NSMutableString over 4 MiB", tooLarge) {
            NSMutableString(string: String(repeating: "é", count: 2 << 20))
        },
    ]

    static let tooLarge = "larger than 4 MiB"
}

private final class Widget: Sendable {}
private struct Point { let x: Int }
private enum Shade { case dark }
private enum Named: String { case dark }

/// An NSDictionary as on Apple platforms, where two spellings are two keys.
private final class TwoSpellings: NSDictionary {
    override var count: Int { 2 }
    override func keyEnumerator() -> NSEnumerator { NSArray(array: ["\u{E9}", "e\u{301}"]).objectEnumerator() }
    override func object(forKey key: Any) -> Any? { 1 }
}
