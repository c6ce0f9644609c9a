import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

private struct Shape: Codable {
    struct Point: Codable, Hashable { var x = 0, y: Int? }

    var name: String?
    var point: Point?
    var points: [Point]?
    var byName: [String: Point]?
    var rows: [[Point]]?
    var text: [String: String]?
}

/// Knows a former name, and does not always request it.
private struct Renamed: Codable {
    var new = 0
    private enum CodingKeys: String, CodingKey { case new, former }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        new = try container.decodeIfPresent(Int.self, forKey: .new) ?? container.decode(Int.self, forKey: .former)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(new, forKey: .new)
    }
}

private enum Choice: Codable {
    case plain
    case point(x: Int)
}

/// Two classes read one dictionary.
private class Base: Codable {
    var a = 0
}

private final class Derived: Base {
    var b = 0
    private enum CodingKeys: CodingKey { case b }

    required init(from decoder: any Decoder) throws {
        b = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .b)
        try super.init(from: decoder)
    }
}

@Suite struct UnknownFieldsTests {
    /// The stored value after the type has decoded `old` and `change` has changed the encoded value.
    private func saved<T: Codable>(
        _ type: T.Type, _ old: [String: Any], _ change: (inout T) -> Void = { _ in }
    ) throws -> NSDictionary? {
        let stored = try canonical(old)
        var (value, keys) = try StoredValueDecoder.value(type, from: stored) { nil }
        change(&value)
        let encoded = try StoredValueEncoder.value(of: value)
        let result = UnknownFields.preserved(in: encoded, from: stored, keys: keys)
        // If `mayBeLost` is false, there must be nothing to preserve.
        if !UnknownFields.mayBeLost(from: stored, in: encoded) { #expect(result == encoded) }
        return result.object as? NSDictionary
    }

    private func canonical(_ object: Any) throws -> StoredValue {
        try PropertyListVetter.value(of: object)
    }

    private func dictionary(_ members: [String: Any]) throws -> NSDictionary? {
        try canonical(members).object as? NSDictionary
    }

    @Test func unknownFieldsArePreservedInStructs() throws {
        let old: [String: Any] = [
            "name": "a", "future": ["x": 1], "point": ["x": 1, "z": 3], "byName": ["p.q": ["x": 2, "w": true]],
            "text": ["any": "thing"],
        ]
        #expect(try saved(Shape.self, old) == dictionary(old))
        let new = try saved(Shape.self, old) {
            $0.name = nil
            $0.point?.x = 9
            $0.byName?["r"] = Shape.Point(x: 4)
            $0.text = [:]
        }
        let expected: [String: Any] = [
            "future": ["x": 1], "point": ["x": 9, "z": 3],
            "byName": ["p.q": ["x": 2, "w": true], "r": ["x": 4]] as [String: Any], "text": [String: Any](),
        ]
        #expect(try new == dictionary(expected))
        let without = try saved(Shape.self, old) {
            $0.point = nil; $0.byName = ["r": Shape.Point()]
        }
        #expect(without?["point"] == nil && without?["byName"] as? NSDictionary == ["r": ["x": 0]])
        // The key "p.q" and the path from "p" to "q" are two places.
        let nested = ["a": ["b.c": ["x": 1, "u": 1]], "a.b": ["c": ["x": 2, "v": 2]]]
        #expect(try saved([String: [String: Shape.Point]].self, nested) == dictionary(nested))
        // The key "3" is no index.
        let numbered = try saved([Int: Shape.Point].self, ["3": ["x": 1, "u": 1]]) { $0[3]?.x = 2 }
        #expect(try numbered == dictionary(["3": ["x": 2, "u": 1]]))
    }

    @Test func knownFieldsAreNotRestored() throws {
        #expect(try saved(Renamed.self, ["former": 3, "future": 1]) == ["new": 3, "future": 1])
        #expect(try saved(Renamed.self, ["former": 3, "new": 4]) == ["new": 4])
        let choice = try saved(Choice.self, ["point": ["x": 1, "z": 2], "future": 1]) { $0 = .plain }
        #expect(choice == ["plain": NSDictionary(), "future": 1])
        #expect(
            try saved(Choice.self, ["point": ["x": 1, "z": 2]]) { $0 = .point(x: 5) } == ["point": ["x": 5, "z": 2]])
        let (_, keys) = try StoredValueDecoder.value(Derived.self, from: canonical(["a": 1, "b": 2, "c": 3])) {
            nil
        }
        #expect(keys.map(\.unknown) == [["c"]])
    }

    @Test func elementsCorrespondByTheirKnownPartAndThenByIndex() throws {
        let points: [[String: Any]] = [["x": 1, "u": "one"], ["x": 2, "u": "two"], ["x": 3]]
        func new(_ change: (inout [Shape.Point]) -> Void) throws -> [[String: Any]]? {
            let result = try saved(Shape.self, ["points": points]) { shape in
                shape.points.map { points in
                    var points = points
                    change(&points)
                    shape.points = points
                }
            }
            return result?["points"] as? [[String: Any]]
        }
        func check(_ expected: [String], _ change: (inout [Shape.Point]) -> Void) throws {
            let texts = try #require(try new(change)).map { "\($0["x"] as? Int ?? 0)\($0["u"] as? String ?? "")" }
            #expect(texts == expected)
        }
        try check(["1one", "2two", "3"]) { _ in }
        try check(["3", "2two", "1one"]) { $0.reverse() }
        try check(["1one", "9two", "3"]) { $0[1].x = 9 }
        try check(["2two", "3"]) { $0.removeFirst() }
        try check(["0", "1one", "2two", "3"]) { $0.insert(Shape.Point(), at: 0) }
        try check(["9", "3"]) {
            $0.removeFirst(); $0[0].x = 9
        }
        // The last element corresponds to no other element.
        try check(["2two", "3", "9"]) {
            $0.removeFirst(); $0.append(Shape.Point(x: 9))
        }
        try check(["1one", "1"]) { $0 = [Shape.Point(x: 1), Shape.Point(x: 1)] }
    }

    @Test func equalElementsCorrespondInTheirOrder() throws {
        let rows: [[[String: Any]]] = [[["x": 1]], [["x": 1, "u": 2]], [["x": 1, "u": 3]]]
        #expect(try saved(Shape.self, ["rows": rows]) == dictionary(["rows": rows]))
        let moved = try saved(Shape.self, ["rows": rows]) { $0.rows?.insert([Shape.Point(x: 7)], at: 0) }
        #expect(try moved == dictionary(["rows": [[["x": 7]]] + rows]))
    }

    @Test func aValueOfAnotherKindKeepsNothing() throws {
        let (_, keys) = try StoredValueDecoder.value(Shape.self, from: canonical(["point": ["x": 1, "u": 1]])) {
            nil
        }
        let old = try canonical(["point": ["x": 1, "u": 1]])
        for new in [["point": 1], ["point": []], [], "point"] as [Any] {
            let result = UnknownFields.preserved(in: try canonical(new), from: old, keys: keys)
            #expect(try result == canonical(new))
        }
    }

    /// A write does not decode values if every element keeps its fields.
    @Test func whatLacksNothingInItsPlaceLosesNothing() throws {
        func mayBeLost(_ old: [Any], _ new: [Any]) throws -> Bool {
            try UnknownFields.mayBeLost(from: canonical(["l": old]), in: canonical(["l": new]))
        }
        let (x, xu) = (["x": 1], ["x": 1, "u": 1])
        #expect(try !mayBeLost([x, xu], [["x": 2], ["x": 2, "u": 2, "v": 2]]))
        #expect(try !mayBeLost([x, x], [x]) && !mayBeLost([x], [xu, x]) && !mayBeLost([xu], [1]))
        #expect(try mayBeLost([x, xu], [xu, x]) && mayBeLost([x, xu], [xu, xu, x]) && mayBeLost([xu], [x]))
        #expect(try mayBeLost([[x], [xu]], [[x], [x]]) && !mayBeLost([[x], [xu]], [[x], [xu]]))
    }

    /// Elements are looked up, because comparing each with each would take minutes.
    @Test func manyElementsAndKeysAreMatchedInLinearTime() throws {
        let count = Hazard.count(5_000, long: 20_000)
        let points = (0..<count).map { ["x": $0, "u": $0] }
        let new = try saved(Shape.self, ["points": points]) { $0.points?.reverse() }
        #expect((new?["points"] as? [[String: Int]])?.allSatisfy { $0["x"] == $0["u"] && $0.count == 2 } == true)
        // Many rows, each with its own key.
        let rows = (0..<40_000).map { ["\($0)": 0] }
        let row = rows.reduce(into: [:]) { $0.merge($1) { $1 } }
        #expect(try !UnknownFields.mayBeLost(from: canonical(rows), in: canonical([row])))
    }
}
