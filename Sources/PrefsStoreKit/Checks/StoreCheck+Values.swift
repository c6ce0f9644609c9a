import Foundation
import PersistentPreferences

extension StoreCheck {
    /// The checks of roots and of the values that a read returns.
    static let values = [
        StoreCheck("missingIsNil", "A root that was never written reads as nil, and a read changes nothing.") { place in
            for _ in 0..<2 { try place.expectRoot("A", equals: nil, "before the first write") }
        },
        StoreCheck("emptyIsNotMissing", "An empty root is not missing.") { place in
            try place.store.update(root: "A") { $0 = [:] }
            try place.expectRoot("A", equals: [:], "after an update that stores an empty root")
        },
        StoreCheck("updateIsRead", "After an update, read returns its result through every object for the same place.")
        {
            place in
            try place.store.update(root: "A") { $0 = ["a": 1, "b": ["x", "y"]] }
            try place.expectRoot("A", equals: ["a": 1, "b": ["x", "y"]], "after the first update")
            try place.other.update(root: "A") { $0?["a"] = 2 }
            try place.expect(
                place.store.read(root: "A"), equals: ["a": 2, "b": ["x", "y"]], "after the second update")
        },
        StoreCheck("everyThreadReads", "After an update, read returns its result in every thread.") { place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            try place.inThreads(place.threads) { _ in
                try place.expect(place.store.read(root: "A"), equals: ["a": 1], "in another thread")
            }
            try place.inThreads(1) { _ in try place.store.update(root: "A") { $0 = ["a": 2] } }
            try place.expect(place.store.read(root: "A"), equals: ["a": 2], "after an update of another thread")
        },
        StoreCheck("rootsAreSeparate", "A write to one root does not change another, whatever their names are.") {
            place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            try place.store.update(root: "B/../.") { $0 = ["a": 2] }
            try place.expectRoot("A", equals: ["a": 1], "in the root \"A\"")
            try place.expectRoot("B/../.", equals: ["a": 2], "in the root \"B/../.\"")
        },
        StoreCheck("nilRemoves", "A root that was set to nil reads as nil.") { place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            try place.store.update(root: "A") { $0 = nil }
            try place.expectRoot("A", equals: nil, "after the root was set to nil")
        },
        StoreCheck("valuesHaveTheirTypes", "Values are String, Data, Date, Bool, NSNumber, [Any] and [String: Any].") {
            place in
            let optional: Any = Int?.some(4) as Any
            let date = Date(timeIntervalSinceReferenceDate: 1_000)
            let values: [String: Any] = [
                "string": "a", "data": Data([1, 2]), "date": date, "bool": true, "int": 1, "double": 1.5,
                "optional": optional, "list": NSArray(array: [NSMutableString("x")]),
                "dictionary": NSDictionary(dictionary: ["k": 1]),
            ]
            try place.store.update(root: "A") { $0 = values }
            let found = try place.other.read(root: "A") ?? [:]
            func expect(_ key: String, is expected: String, _ condition: Bool) throws {
                let value = found[key].map { "\(type(of: $0)) \($0)" } ?? "nil"
                try place.expect(condition, "Expected \(expected) for \"\(key)\", found \(value).")
            }
            func isExactly<T>(_ key: String, _ type: T.Type) -> Bool {
                found[key].map { Swift.type(of: $0) == type } ?? false
            }
            try expect(
                "string", is: "the String a", isExactly("string", String.self) && found["string"] as? String == "a")
            try expect("data", is: "Data", isExactly("data", Data.self) && found["data"] as? Data == Data([1, 2]))
            try expect("date", is: "a Date", isExactly("date", Date.self) && found["date"] as? Date == date)
            try expect("bool", is: "the Bool true", isExactly("bool", Bool.self) && found["bool"] as? Bool == true)
            try expect("int", is: "NSNumber 1", found["int"] is NSNumber && found["int"] as? Double == 1)
            try expect("double", is: "NSNumber 1.5", found["double"] is NSNumber && found["double"] as? Double == 1.5)
            try expect("optional", is: "NSNumber 4", found["optional"].map { $0 is NSNumber } == true)
            let list = found["list"] as? [Any]
            try expect("list", is: "an [Any] of a String", isExactly("list", [Any].self) && list?.first is String)
            let dictionary = found["dictionary"] as? [String: Any]
            try expect(
                "dictionary", is: "a [String: Any]",
                isExactly("dictionary", [String: Any].self) && dictionary?["k"] as? Int == 1)
        },
        StoreCheck("nothingIsAliased", "A store keeps a deep copy of what is written.") { place in
            let array = NSMutableArray(array: ["x"])
            try place.store.update(root: "A") { $0 = ["a": array] }
            array.add("y")
            try place.expectRoot("A", equals: ["a": ["x"]], "after the written object has changed")
        },
        StoreCheck("badRootIsRejected", "A name that cannot be a root key is rejected.") { place in
            for name in ["", "a\0b", "\u{FEFF}a", String(repeating: "x", count: 1_025)] {
                let access = "a root key of \(name.count) characters, \(name.prefix(5).debugDescription)"
                try place.expectError("an error", of: "a read with \(access)") { _ = try place.store.read(root: name) }
                try place.expectError("an error", of: "an update with \(access)") {
                    try place.store.update(root: name) { $0 = [:] }
                }
            }
        },
        StoreCheck(
            "unsupportedIsRejected", "A value that a property list cannot hold is rejected, and nothing changes."
        ) { place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            let error = try place.expectError("valuesNotPlistCompatible", of: "an update with a UUID and a closure") {
                try place.store.update(root: "A") { $0 = ["a": 2, "z": [UUID()], "b": { 1 } as () -> Int] }
            }
            guard case PrefsError.valuesNotPlistCompatible(let keys) = error, Array(keys) == ["b", "z"] else {
                throw CheckedPlace.Finding(
                    description: "Expected valuesNotPlistCompatible with the keys b and z, found \(error).")
            }
            try place.expectRoot("A", equals: ["a": 1], "after the rejected update")
        },
    ]
}
