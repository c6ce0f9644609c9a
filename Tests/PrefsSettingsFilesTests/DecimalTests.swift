import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import PrefsStoreKit
import Testing
import TestSupport

/// Settings that an older program has stored with `PropertyListEncoder`, which stores a Decimal as a dictionary.
private struct ShopSettings: SettingsFile, Equatable {
    var price = Decimal(string: "19.99") ?? 0
    var rates = ["a": Decimal(string: "-0.000000000000000000000000000000012345") ?? 0, "max": .greatestFiniteMagnitude]
    var prices = [Decimal(0), Decimal(string: "12345678901234567890123456789012345678") ?? 0, Decimal(1) / Decimal(3)]
    var optional: Decimal? = 100

    static var settingsBundle: Bundle { .module }
    static let none = ShopSettings(price: 0, rates: [:], prices: [], optional: nil)

    static var settingsURL: URL { SettingsPlace.file("ShopSettings.plist") }
}

private final class PricePrefs: Prefs, @unchecked Sendable {
    @Pref var price = Decimal(1)
    @Pref var prices: [Decimal] = []
    @Pref var optional: Decimal?
}

@Suite(.inSettingsPlace) struct DecimalTests {
    private struct Box: Codable { var value: Decimal }

    /// The dictionary that Foundation stores.
    private func parts(of value: Decimal) throws -> [String: Any] {
        let bytes = try PropertyListEncoder().encode(Box(value: value))
        let root = try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any]
        return try #require(root?["value"] as? [String: Any])
    }

    private func read(_ stored: Any) throws -> (Decimal, String) {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["price": stored] }
        let prefs = PricePrefs(key: "Root", store: store)
        return (prefs.price, prefs.lastError.map { "\($0)" } ?? "ok")
    }

    /// It is the committed file, in XML.
    @Test func theFileOfPropertyListEncoderIsReadExactly() throws {
        var settings = ShopSettings.none
        succeeds(settings.loadUsingSettingsFile())
        #expect(settings == ShopSettings())
        #expect(settings.prices.map(\.description) == ShopSettings().prices.map(\.description))
        #expect(Set(settings.prices) == Set(ShopSettings().prices), "equal values have equal hashes")
        settings.price += 1
        try settings.trySave()
        var other = ShopSettings.none
        try other.tryLoad()
        #expect(other == settings)
    }

    @Test func everyDecimalIsReadExactly() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let significand =
                Decimal(generator.next()) * Decimal(generator.next() >> UInt64.random(in: 0...63, using: &generator))
            let sign: FloatingPointSign = Bool.random(using: &generator) ? .minus : .plus
            let value = Decimal(
                sign: sign, exponent: Int.random(in: -120...80, using: &generator), significand: significand)
            let (result, outcome) = try read(parts(of: value))
            #expect(result == value && result.description == value.description && outcome == "ok")
        }
        #expect(try read(parts(of: .nan)).0.isNaN)
        #expect(try read(parts(of: 0)).0 == 0)
    }

    @Test func declaredPropertiesReadIt() throws {
        let store = PrefsStore.memory()
        let (price, list) = (try parts(of: 5), try [parts(of: 6), parts(of: -7)])
        try store.update(root: "Root") { $0 = ["price": price, "prices": list, "optional": price] }
        let prefs = PricePrefs(key: "Root", store: store)
        #expect(prefs.price == 5 && prefs.prices == [6, -7] && prefs.optional == 5 && prefs.lastError == nil)
        prefs.price = 8
        #expect(try store.read(root: "Root")?["price"] as? String == "8")
    }

    @Test func aNumberInAnotherFormIsTheSameNumber() throws {
        var loose = try parts(of: 1)
        loose["mantissa"] = [100, 0, 0, 0, 0, 0, 0, 7]
        loose["length"] = 2
        loose["exponent"] = -2
        let (value, outcome) = try read(loose)
        #expect(value == 1 && Set([value, 1]).count == 1 && outcome == "ok")
    }

    @Test func whatIsNoDecimalIsAnError() throws {
        let good = try parts(of: Decimal(string: "1.5") ?? 0)
        var changes: [(String, Any?)] = [
            ("exponent", 128), ("exponent", -129), ("exponent", "1"), ("length", 9), ("length", -1), ("isNegative", 2),
            ("isCompact", "yes"), ("mantissa", [15]), ("mantissa", "15"), ("mantissa", [65_536, 0, 0, 0, 0, 0, 0, 0]),
            ("mantissa", [-1, 0, 0, 0, 0, 0, 0, 0]), ("other", 1),
        ]
        changes += good.keys.map { ($0, nil) }
        for (key, value) in changes {
            var parts = good
            parts[key] = value
            let (result, outcome) = try read(parts)
            #expect(result == 1)
            #expect(outcome == "price: expected Decimal, found a dictionary", "\(key)")
        }
    }
}
