import Foundation
import PropertyListSupport
import Testing

@testable import PrefsPropertyLists

/// A type that encodes itself by hand. Foundation's result is the expected one.
private struct ByHand: Encodable, Sendable, CustomTestStringConvertible {
    let testDescription: String
    private let body: @Sendable (any Encoder) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (any Encoder) throws -> Void) {
        testDescription = name
        self.body = body
    }

    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

private struct Empty: Encodable { func encode(to encoder: any Encoder) {} }
private struct Inner: Codable { var a = 1, b = "two", c: [Double] = [0.5], d: Int? = 4 }

/// Scalars are put directly into their container. A container that is filled later already has its place.
@Suite struct ContainersByHandTests {
    private static let cases = [
        ByHand("replaced by a part") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode("x", forKey: "k")
            try container.encode(Inner(), forKey: "k")
        },
        ByHand("replaced by a scalar") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(Inner(), forKey: "k")
            try container.encode(5, forKey: "k")
        },
        ByHand("filled, then replaced") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            var list = container.nestedUnkeyedContainer(forKey: "k")
            try list.encode(1)
            try container.encode("x", forKey: "k")
            var members = container.nestedContainer(keyedBy: AnyKey.self, forKey: "l")
            try members.encode(1, forKey: "a")
            try container.encode(Inner(), forKey: "l")
        },
        ByHand("two containers, one dictionary") { encoder in
            var first = encoder.container(keyedBy: AnyKey.self)
            try first.encode(1, forKey: "a")
            var second = encoder.container(keyedBy: AnyKey.self)
            try second.encode(Inner(), forKey: "b")
            try first.encode(true, forKey: "c")
        },
        ByHand("lists in lists, filled in turn") { encoder in
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            var first = list.nestedUnkeyedContainer()
            try list.encode("x")
            var second = list.nestedContainer(keyedBy: AnyKey.self)
            try first.encode(Inner())
            try second.encode(false, forKey: "b")
            try first.encode(2.5)
            try list.encode([Inner(), Inner()])
        },
        ByHand("super") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: "a")
            try Inner().encode(to: container.superEncoder())
            var nested = container.superEncoder(forKey: "list").unkeyedContainer()
            try nested.encode("x")
            try Inner().encode(to: nested.superEncoder())
        },
        ByHand("parts that encode nothing") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(Empty(), forKey: "empty")
            var list = container.nestedUnkeyedContainer(forKey: "list")
            try list.encode(Empty())
            try list.encode(1)
        },
        ByHand("a single value of a part") { encoder in
            var container = encoder.singleValueContainer()
            try container.encode(["k": Inner()])
        },
    ]

    @Test(arguments: cases)
    fileprivate func isWhatFoundationMakes(_ example: ByHand) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let bytes = try encoder.encode(example)
        let ours = try StoredValueEncoder.value(of: example)
        #expect(exactForm(ours) == exactForm(try PropertyListCoder.decode(bytes).value.object))
    }

    /// A list that was encoded as a whole can be continued.
    @Test func aListGoesOn() throws {
        let list = ByHand("a list") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode([1, 2], forKey: "list")
            var list = container.nestedUnkeyedContainer(forKey: "list")
            try list.encode(3)
        }
        #expect(exactForm(try StoredValueEncoder.value(of: list)) == "{'list': [1, 2, 3]}")
    }

    /// So can a dictionary.
    @Test func aDictionaryGoesOn() throws {
        let members = ByHand("members") { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(["a": 1, "b": 2], forKey: "k")
            var first = container.nestedContainer(keyedBy: AnyKey.self, forKey: "k")
            try first.encode(3, forKey: "b")
            var second = container.nestedContainer(keyedBy: AnyKey.self, forKey: "k")
            try second.encode(4, forKey: "c")
        }
        #expect(exactForm(try StoredValueEncoder.value(of: members)) == "{'k': {'a': 1, 'b': 3, 'c': 4}}")
    }

    /// A request that fails leaves the position in a list; one that succeeds moves it by one element. Foundation's decoder is
    /// the judge.
    @Test func aListIsReadElementByElement() throws {
        struct Reading: Decodable, Equatable {
            var parts: [String] = []

            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                // One request for each element, if the list is left as it should be.
                while !list.isAtEnd, parts.count < 9 {
                    let index = list.currentIndex
                    if let number = try? list.decode(Int.self) {
                        parts.append("\(index) \(number)")
                    } else if let flag = try? list.decode(Bool.self) {
                        parts.append("\(index) \(flag)")
                    } else if var inner = try? list.nestedUnkeyedContainer() {
                        parts.append("\(index) [\(try inner.decode(String.self))]")
                    } else if let inner = try? list.nestedContainer(keyedBy: AnyKey.self) {
                        parts.append("\(index) {\(try inner.decode(String.self, forKey: "a"))}")
                    } else {
                        parts.append("\(index) \(try list.superDecoder().singleValueContainer().decode(String.self))")
                    }
                }
            }
        }
        let list: [Any] = [true, "x", ["y"], 5, ["a": "z"], "w", false, "v"]
        let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let foundations = try PropertyListDecoder().decode(Reading.self, from: bytes)
        #expect(foundations.parts == ["0 true", "1 x", "2 [y]", "3 5", "4 {z}", "5 w", "6 false", "7 v"])
        #expect(try StoredValueDecoder.value(Reading.self, from: PropertyListCoder.decode(bytes).value) == foundations)
    }

    /// Scalar types are cached by type. Optionals are tested each time.
    @Test func anOptionalIsAskedEachTime() throws {
        let object = try StoredValueEncoder.value(of: [
            Optional<[String: Int?]>.none, ["a": 1, "b": nil], ["c": 2],
        ])
        #expect(exactForm(object) == "['$null', {'a': 1, 'b': '$null'}, {'c': 2}]")
        let texts = try StoredValueEncoder.value(
            of: ["x", nil, "$null", "$$null", "$x$null", "a$null", "$nullx"] as [String?])
        #expect(exactForm(texts) == "['x', '$null', '$$null', '$$$null', '$x$null', 'a$null', '$nullx']")
    }

    /// The limit applies to all values together, and one rejected value rejects all.
    @Test func tooManyPartsAreRejected() {
        struct Part: Encodable { var parts: [[Int]] = Array(repeating: [], count: 500_000) }
        #expect(throws: ValueMismatch.self) { try StoredValueEncoder.value(of: Part()) }
    }
}
