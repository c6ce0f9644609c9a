@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

/// Equal values give equal files, in every order of their elements.
@Suite struct SetFileTests {
    private struct Tag: Codable, Hashable {
        let name: String?
        let weight: Double
    }

    private struct Tags: Codable {
        var tags: Set<Tag>
        var optional: Set<String?>?
        var counts: [Tag: Int]
    }

    private final class SetPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var texts: Set<String> = []
        @Pref var numbers: Set<Double> = []
        @Pref var dates: Set<Date> = []
        @Pref var data: Set<Data> = []
        @Pref var lists: Set<[Int?]> = []
        @Pref var tags: Set<Tag> = []
        @Pref var urls: Set<URL> = []
        @Pref var counts: [Tag: Int] = [:]
        @Pref var all: Tags? = nil
    }

    private static let amounts = 0..<40

    /// Fills the sets in another order each time: forwards, backwards, and with another capacity.
    private func fill(_ prefs: SetPrefs, round: Int) {
        func set<T: Hashable>(_ make: (Int) -> T) -> Set<T> {
            var result = Set<T>(minimumCapacity: round * 200)
            let numbers = round.isMultiple(of: 2) ? Array(Self.amounts) : Self.amounts.reversed()
            for number in numbers { result.insert(make(number)) }
            return result
        }
        let tags = set { Tag(name: $0 % 3 == 0 ? nil : "\($0 % 5)", weight: Double($0) / 8) }
        var counts = [Tag: Int](minimumCapacity: round * 200)
        for tag in tags { counts[tag] = Int(tag.weight * 8) }
        prefs.update {
            prefs.texts = set { "\($0)" }
            prefs.numbers = set { Double($0) - 20.5 }
            prefs.dates = set { Date(timeIntervalSinceReferenceDate: Double($0) / 3) }
            prefs.data = set { Data([UInt8($0 % 7), UInt8($0)]) }
            prefs.lists = set { number in [number % 2, nil, number] + (0..<(number % 3)).map { $0 } }
            prefs.tags = tags
            prefs.urls = set { URL(fileURLWithPath: "/\($0)") }
            prefs.counts = counts
            prefs.all = Tags(tags: tags, optional: set { $0 % 9 == 0 ? nil : "\($0)" }, counts: counts)
        }
    }

    @Test func anEqualSetTouchesNothing() throws {
        let file = try TypedFile()
        let prefs = SetPrefs(store: file.store)
        fill(prefs, round: 0)
        #expect(prefs.outcome == "ok" && prefs.tags.count == 40 && prefs.counts.count == 40)
        let before = try (file.bytes, file.fileNumber)
        for round in 1..<8 {
            fill(prefs, round: round)
            #expect(try file.fileNumber == before.1 && file.bytes == before.0, "\(round)")
        }
        #expect(prefs.outcome == "ok")
    }

    @Test func theOrderIsThatOfTheValues() throws {
        let coding = PrefCoding(rule: Set<Double>.self)
        let numbers = try #require(try coding.encode([3, -0.5, .infinity, 0, -.infinity, 10])?.object as? [Double])
        #expect(numbers == [-.infinity, -0.5, 0, 3, 10, .infinity])
        let texts = try PrefCoding(rule: Set<String?>.self).encode(["b", nil, "a", "", "$null", "B"])
        #expect(texts?.object as? [String] == ["", "$$null", "$null", "B", "a", "b"])
    }

    /// On some processors, 0.0 / 0.0 gives a NaN with a sign.
    @Test func aNaNOfEitherSignIsTheSame() throws {
        let negative = Double(sign: .minus, exponentBitPattern: 0x7FF, significandBitPattern: 1 << 51)
        #expect(negative.isNaN && negative.bitPattern != Double.nan.bitPattern)
        let coding = PrefCoding(rule: Set<Double>.self)
        func forms(_ nan: Double) throws -> Set<String> {
            Set(
                try (0..<50).map { _ in
                    exactForm(try #require(try coding.encode([1, nan, -5, .infinity, -.infinity])).object)
                })
        }
        #expect(try forms(negative) == forms(.nan))
        #expect(try forms(negative).count == 1)
        for stored in [negative.storable, Float(negative).storable, StoredValue(NSNumber(value: negative))] {
            #expect(stored.double?.bitPattern == Double.nan.bitPattern)
        }
        #expect(try PropertyListVetter.value(of: negative).double?.bitPattern == Double.nan.bitPattern)
        let folder = try TemporaryFolder()
        for store in [PrefsStore.propertyList(url: folder.file()), PrefsStore.memory()] as [PrefsStore] {
            let prefs = NumberPrefs(key: "Root", store: store)
            prefs.number = negative
            #expect(prefs.number.bitPattern == Double.nan.bitPattern)
        }
    }

    private final class NumberPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var number = 0.0
    }

    /// The order of values is total, for any three values of all kinds.
    @Test func theOrderIsTotal() {
        let values: [Any] = [
            "a", "", "b", true, false, NSNumber(value: 1), NSNumber(value: 1.0), NSNumber(value: -1),
            NSNumber(value: UInt64.max), NSNumber(value: Double.nan), NSNumber(value: -Double.infinity),
            NSNumber(value: -0.0), NSNumber(value: 0.0),
            Date.distantPast, Date.distantFuture, Data(), Data([1]), Data([1, 0]), [Any](), ["a"] as [Any],
            ["a", "b"] as [Any], [String: Any](), ["a": "a"] as [String: Any], ["a": "b", "b": "a"] as [String: Any],
            ["b": "a"] as [String: Any],
        ]
        let stored = values.map(StoredValue.init(of:))
        for (first, left) in stored.enumerated() {
            #expect(!StoredValue.precedes(left, left))
            for (second, right) in stored.enumerated() where first != second {
                #expect(
                    StoredValue.precedes(left, right) != StoredValue.precedes(right, left), "\(left), \(right)")
                for third in stored where StoredValue.precedes(left, right) && StoredValue.precedes(right, third) {
                    #expect(StoredValue.precedes(left, third))
                }
            }
        }
    }
}
