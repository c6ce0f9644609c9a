@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences

/// The stored value is a deep copy.
@Suite struct AlreadyCanonicalTests {
    private let prefs = AnyPrefs(store: .memory())

    /// Mutable objects at any depth, between parts that are canonical already.
    @Test(arguments: 0..<Mutable.all.count, 0..<6) func nothingThatCanChangeSurvives(_ kind: Int, _ place: Int) throws {
        let mutable = Mutable.all[kind]()
        let value = Self.places[place](mutable.object)
        let copy = try PropertyListVetter.storedObject(of: value).get()
        prefs["a"] = value
        prefs.values["b"] = value
        prefs.update { $0["c"] = value }
        let before = exactForm(copy)
        #expect(!before.contains("not canonical") && before.contains(mutable.form))
        mutable.change()
        #expect(exactForm(copy) == before)
        for key in ["a", "b", "c"] { #expect(prefs[key].map(exactForm) == before) }
        #expect(prefs.outcome == "ok")
    }

    private static let places: [@Sendable (Any) -> Any] = [
        { $0 }, { ["x", $0, NSNumber(value: 2)] as [Any] }, { ["k": $0, "x": true] as [String: Any] },
        { [["k": [["x", ["y": $0] as [String: Any]] as [Any]], "z": "z"] as [String: Any]] as [Any] },
        { ["k": NSMutableArray(array: ["x", NSDictionary(object: $0, forKey: "k" as NSString)])] as [String: Any] },
        { [["x"], [Any?.some($0) as Any], [AnyHashable("y")]] as [Any] },
    ]

    /// Foundation returns an `Any` inside an `Any`.
    @Test(arguments: [1, 2, 50]) func anAnyInAnAnyIsWhatIsInside(_ levels: Int) throws {
        func boxed(_ value: Any) -> Any { (0..<levels).reduce(value) { value, _ in Self.boxed(value) } }
        for value in [
            "x", true, NSNumber(value: 1), NSNumber(value: 1.5), Data([1]), Date(timeIntervalSinceReferenceDate: 1),
            [boxed("x")] as [Any], ["k": boxed(NSNumber(value: 2))] as [String: Any],
        ] as [Any] {
            let plain = try PropertyListVetter.storedObject(of: value).get()
            prefs["a"] = [boxed(value), ["k": boxed(value)] as [String: Any]] as [Any]
            let form = exactForm(plain)
            #expect(prefs["a"].map(exactForm) == "[\(form), {'k': \(form)}]")
            #expect(StoredValue.areEqual(boxed(value), plain) && StoredValue.areEqual(plain, boxed(value)))
            let bytes = try PropertyListCoder.encode(objects: [boxed(value)] as [Any], as: .binary)
            #expect(try exactForm(PropertyListCoder.decode(bytes).value.object) == "[\(form)]")
            let xml = try PropertyListCoder.encode(objects: [boxed(value)] as [Any], as: .plainXML)
            #expect(try exactForm(PropertyListCoder.decode(xml).value.object) == "[\(form)]")
        }
        prefs["a"] = [boxed(UUID()), boxed(NSMutableString(string: "m"))] as [Any]
        #expect(prefs.lastError?.failures.map(\.path) == ["a[0]"])
        prefs["a"] = [boxed(NSDecimalNumber(value: 1))] as [Any]
        #expect(prefs.lastError?.failures.map(\.path) == ["a[0]"])
    }

    private static func boxed<Value>(_ value: Value) -> Any { value }

    @Test func wrappedAnyNumberOfTimesOnASmallStack() throws {
        // As many levels as can be released on this stack.
        try onSmallStack {
            var hashable = AnyHashable("x")
            for _ in 0..<1_000 { hashable = AnyHashable(AnyHashable?.some(hashable)) }
            var value: Any = hashable
            for _ in 0..<1_000 { value = Any?.some(value) as Any }
            let copy = try PropertyListVetter.storedObject(of: [value, [value]] as [Any]).get()
            #expect(exactForm(copy) == "['x', ['x']]")
        }
    }
}

/// An object that its owner may change after it was stored.
private struct Mutable {
    let object: Any
    let form: String
    let change: () -> Void

    static let all: [@Sendable () -> Mutable] = [
        {
            let text = NSMutableString(string: "before")
            return Mutable(object: text, form: "'before'") { text.setString("after") }
        },
        {
            let data = NSMutableData(data: Data([1]))
            return Mutable(object: data, form: "data AQ==") { data.append(Data([2])) }
        },
        {
            let list = NSMutableArray(array: ["before"])
            return Mutable(object: list, form: "['before']") { list.add("after") }
        },
        {
            let list = NSMutableDictionary(object: "before", forKey: "k" as NSString)
            return Mutable(object: list, form: "{'k': 'before'}") { list["k"] = "after" }
        },
        {
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 40)
            bytes.initialize(repeating: 1, count: 40)
            let data = Data(bytesNoCopy: bytes, count: 40, deallocator: .none)
            return Mutable(object: data, form: "data AQEB") { bytes.update(repeating: 2, count: 40) }
        },
        {
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 40)
            bytes.initialize(repeating: 1, count: 40)
            let data = NSData(bytesNoCopy: bytes, length: 40, freeWhenDone: false)
            return Mutable(object: data, form: "data AQEB") { bytes.update(repeating: 2, count: 40) }
        },
    ]
}
