import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// Random Codable values are equal after encoding and decoding, and the encoded objects equal those of Foundation's
/// encoder.
@Suite struct CodableTreeTests {
    private static let amount = Hazard.count("PREFS_TREES", default: Hazard.count(20, long: 60))

    @Test func treesSurvive() throws {
        for seed in 0..<UInt64(Self.amount) {
            var maker = TreeMaker(random: SeededGenerator(seed: seed), isSpecial: true)
            let tree = maker.tree()
            let value = try StoredValueEncoder.value(of: tree)
            let copy = try PropertyListVetter.value(of: value.object)
            try PropertyListVetter.check(value)
            #expect(value == copy && exactForm(value) == exactForm(copy), "seed \(seed)")
            #expect(try StoredValueDecoder.value(CodableTree.self, from: copy) == tree, "seed \(seed)")
        }
    }

    @Test func theObjectsAreThoseOfFoundation() throws {
        for seed in 0..<UInt64(Self.amount) {
            var maker = TreeMaker(random: SeededGenerator(seed: seed), isSpecial: false)
            try compare(maker.tree(), seed)
            try compare(maker.apprentice(), seed)
        }
    }

    private func compare<Value: Codable & Equatable>(_ value: Value, _ seed: UInt64) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let bytes = try encoder.encode([value])
        let list = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
        let foundation = try #require(PropertyListVetter.value(of: list).array)
        let object = try StoredValueEncoder.value(of: value)
        #expect(exactForm(object) == exactForm(foundation[0]), "seed \(seed)")
        #expect(try StoredValueDecoder.value(Value.self, from: foundation[0]) == value, "seed \(seed)")
        // Foundation decodes our objects, too.
        let ours = try PropertyListSerialization.data(fromPropertyList: [object.object], format: .binary, options: 0)
        #expect(try PropertyListDecoder().decode([Value].self, from: ours) == [value], "seed \(seed)")
    }

    /// A type may try one form of a stored value and then another.
    @Test func aTypeMayCatchWhatDoesNotFit() throws {
        struct Lenient: Codable, Equatable {
            var number: Int?

            init(number: Int?) { self.number = number }

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                do {
                    number = try container.decode(Int.self)
                } catch DecodingError.typeMismatch {
                    number = Int(try container.decode(String.self))
                } catch DecodingError.valueNotFound {
                    number = nil
                }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                if let number { try container.encode("\(number)") } else { try container.encodeNil() }
            }
        }
        for (stored, number) in [(.string("5"), 5), (.integer(6), 6), (.string("$null"), nil)] as [(StoredValue, Int?)]
        {
            #expect(try StoredValueDecoder.value(Lenient.self, from: stored).number == number)
        }
        let all = [Lenient(number: 1), Lenient(number: nil)]
        let object = try StoredValueEncoder.value(of: ["a": all])
        #expect(try StoredValueDecoder.value([String: [Lenient]].self, from: object) == ["a": all])
    }
}
