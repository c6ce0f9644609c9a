import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsSettingsFiles
import PrefsStoreKit
import Testing
import TestSupport

/// Numbers of JSON with more digits than a Double. Foundation's decoder is the judge.
@Suite final class LongNumberTests: FolderSuite {
    struct Item: Codable, Equatable {
        var price: Decimal
        var discount: Decimal?
        var name = "a"
    }

    final class ShopPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var price = Decimal(0)
        @Pref var best: Decimal?
        @Pref var list: [Decimal] = []
        @Pref var set: Set<Decimal> = []
        @Pref var byName: [String: Decimal] = [:]
        @Pref var item = Item(price: 0)
        @Pref var items: [Item] = []
        @Pref var ratio = 0.0
        @Pref var narrow = Float(0)
        @Pref var whole = 0
        @Pref var wait = Duration.zero
        @Pref var since = Date(timeIntervalSinceReferenceDate: 0)
        @Pref var any: [String: Any] = [:]

        override var allowedKeys: [String] { super.allowedKeys + ["other", "others"] }
    }

    private func prefs(_ text: String) throws -> ShopPrefs {
        try put(text)
        return ShopPrefs(store: .json(url: url))
    }

    private func decimal(_ text: String) throws -> Decimal {
        try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    }

    /// What a program without this package reads in the file.
    private struct Plain: Decodable {
        var price: Decimal?
        var list: [Decimal]?
        var item: Item?
    }

    private func decoded() throws -> Plain { try JSONDecoder().decode(Plain.self, from: Data(contentsOf: url)) }

    /// Numbers of each count of digits, with and without a point and an exponent.
    private static func texts() -> [String] {
        var generator = SeededGenerator(seed: 69)
        var texts: [String] = []
        for count in 1...38 {
            for _ in 0..<12 {
                let first = Character("\(Int.random(in: 1...9, using: &generator))")
                var digits = (1..<count).map { _ in Character("\(Int.random(in: 0...9, using: &generator))") }
                digits.insert(first, at: 0)
                let point = Int.random(in: 0...count, using: &generator)
                var text = String(digits[..<point])
                if point == 0 { text = "0" }
                if point < count { text += "." + String(digits[point...]) }
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    let exponent = Int.random(in: -60...60, using: &generator)
                    text += (Bool.random(using: &generator) ? "e" : "E") + "\(exponent)"
                }
                texts.append((Bool.random(using: &generator) ? "-" : "") + text)
            }
        }
        return texts
    }

    @Test func everyDecimalIsReadAsByJSONDecoderAndKept() throws {
        let texts = Self.texts()
        let list = "[\(texts.joined(separator: ", "))]"
        let text = #"{"list": \#(list), "item": {"price": \#(texts[0]), "discount": \#(texts[400]), "name": "a"}}"#
        let prefs = try prefs(text)
        let expected = try #require(try decoded().list)
        #expect(expected.count == texts.count)
        for (index, value) in prefs.list.enumerated() {
            #expect(value == expected[index] && value.description == expected[index].description, "\(texts[index])")
        }
        #expect(try prefs.item.price == decoded().item?.price && prefs.lastError == nil)
        #expect(prefs.problems().isEmpty)
        // A write of other values, and an assignment of what was read, keep the text of every number.
        prefs.list = prefs.list
        prefs.values = prefs.values
        prefs.whole = 3
        let changed = text.replacingOccurrences(of: "{\"list\"", with: "{\"whole\": 3, \"list\"")
        let file = try self.text()
        #expect(file.contains(list) && file.count == changed.count && prefs.lastError == nil)
    }

    /// A Double has every number of 15 digits, and not every one of 16: it makes 2 of the last digit of most of these.
    @Test func theShortestNumbersThatADoubleDoesNotHave() throws {
        let texts = ["9007199254740.993", "900719925474.0993", "90071992547409.93", "8.123456789012345"]
        let prefs = try prefs("{\"list\": [\(texts.joined(separator: ", "))]}")
        #expect(prefs.list.map(\.description) == texts && prefs.lastError == nil)
        let rounded = texts.map { text in Double(text)?.description ?? text }
        #expect(zip(texts, rounded).allSatisfy { $0 != $1 })
        prefs.whole = 3
        #expect(try text().contains(texts.joined(separator: ", ")))
    }

    private final class WholePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var whole = 0
        @Pref var long = Int64(0)
        @Pref var unsigned = UInt(0)
        @Pref var longest = UInt64(0)
        @Pref var list: [Int64] = []
        @Pref var byName: [String: UInt64] = [:]
        @Pref var maybe: Int64?
        @Pref var short = Int32(0)
    }

    /// Of each integer type, and in a container of it: the numbers beside 2^53, and the largest, with a fraction of zero.
    @Test func aWholeNumberWithAFractionOfZeroHasAllDigits() throws {
        let texts = ["9007199254740993.0", "-9007199254740993.000", "18446744073709551615.0"]
        try put(
            """
            {"whole": \(texts[0]), "long": \(texts[1]), "unsigned": \(texts[0]), "longest": \(texts[2]),
             "list": [\(texts[0]), \(texts[1])], "byName": {"a": \(texts[2])}, "maybe": \(texts[1]), "short": 7.0}
            """)
        let prefs = WholePrefs(store: .json(url: url))
        #expect(prefs.problems().isEmpty)
        #expect(prefs.whole == 9_007_199_254_740_993 && prefs.long == -9_007_199_254_740_993)
        #expect(prefs.unsigned == 9_007_199_254_740_993 && prefs.longest == .max)
        #expect(prefs.list == [9_007_199_254_740_993, -9_007_199_254_740_993] && prefs.byName == ["a": .max])
        #expect(prefs.maybe == -9_007_199_254_740_993 && prefs.short == 7 && prefs.lastError == nil)
        prefs.short = 8
        #expect(try texts.allSatisfy(text().contains))
        // It is no number of a smaller type.
        try put("{\"short\": \(texts[0]), \"long\": \(texts[2])}")
        #expect(prefs.short == 0 && prefs.lastError != nil)
        #expect(prefs.long == 0 && prefs.lastError != nil)
    }

    @Test func aSumHasAllDigits() throws {
        let prefs = try prefs(#"{"price": 12345678901234567.89, "best": -0.1234567890123456789}"#)
        let cent = try decimal("0.01")
        #expect(try prefs.price == decimal("12345678901234567.89"))
        prefs.price += cent
        #expect(try prefs.best == decimal("-0.1234567890123456789"))
        prefs.best = try decimal("9e20")
        #expect(try text() == #"{"price": 12345678901234567.9, "best": 9e+20}"#)
        #expect(try prefs.price == decimal("12345678901234567.9") && prefs.lastError == nil)
        #expect(try decoded().price == decimal("12345678901234567.9"))
    }

    /// A number stays a number, and a text stays a text. A new element has the form of the last one.
    @Test func aChangedDecimalKeepsItsForm() throws {
        let prefs = try prefs(
            """
            {"price": 19.99, "best": "1.50", "list": [0.1, 2.5, "3.25"], "set": [2.5, 1],
             "byName": {"a": 1, "b": "2"}, "item": {"price": 5, "discount": "0.5", "name": "b", "own": 1.10},
             "items": [{"price": 1.5, "name": "c"}, {"price": "2", "name": "d"}]}
            """)
        prefs.price += 10
        prefs.best? += 1
        prefs.list = prefs.list.map { $0 + 1 }
        prefs.list.insert(7, at: 0)
        prefs.set.insert(4)
        prefs.byName = prefs.byName.mapValues { $0 * 2 }
        prefs.item.price = try decimal("5.25")
        prefs.item.discount = try decimal("0.75")
        prefs.items[0].price = 2
        prefs.items[1].price = 3
        let text = """
            {"price": 29.99, "best": "2.5", "list": ["7", 1.1, 3.5, "4.25"], "set": [2.5, 1, 4],
             "byName": {"a": 2, "b": "4"}, "item": {"price": 5.25, "discount": "0.75", "name": "b", "own": 1.10},
             "items": [{"price": 2, "name": "c"}, {"price": "3", "name": "d"}]}
            """
        #expect(try self.text() == text)
        #expect(prefs.lastError == nil)
        let other = ShopPrefs(store: .json(url: url))
        #expect(other.list == prefs.list && other.set == [1, 4, 2.5] && other.item == prefs.item)
        #expect(other.items.map(\.price) == [2, 3] && other.lastError == nil)
    }

    /// A program that reads the numbers with JSONDecoder reads them after every change.
    @Test func jSONDecoderReadsTheChangedFile() throws {
        let prefs = try prefs(
            #"{"price": 19.99, "list": [0.1, 2.5], "item": {"price": 1, "discount": 0.5, "name": ""}}"#)
        for text in ["0.00000000000000000000000000000000000001", "-99999999999999999999999999999999999999", "7e100"] {
            let value = try decimal(text)
            prefs.price = value
            prefs.list = [value, 1, -value]
            prefs.item = Item(price: value, discount: -value)
            #expect(try decoded().price == value && decoded().list == [value, 1, -value], "\(text)")
            #expect(try decoded().item == Item(price: value, discount: -value) && prefs.lastError == nil)
        }
        #expect(prefs.price.description == ShopPrefs(store: .json(url: url)).price.description)
    }

    @Test func aNewDecimalIsAText() throws {
        let prefs = try prefs(#"{"best": null}"#)
        (prefs.price, prefs.best) = (try decimal("19.99"), 5)
        #expect(try text() == #"{"best": "5", "price": "19.99"}"#)
    }

    /// Other types read the number that they read before: the nearest Double, if they hold it.
    @Test func otherTypesReadTheNearestNumber() throws {
        let text = """
            {"ratio": 0.1000000000000000055511151231257827, "narrow": 0.300000011920928955078125,
             "whole": 9007199254740993.0, "wait": 1.50000000000000000001, "since": 5.00000000000000000001,
             "any": {"a": 12345678901234567.89, "b": [1e400, 1.5]}, "other": 12345678901234567890123, "others": [1e-400]}
            """
        let prefs = try prefs(text)
        #expect(prefs.ratio == 0.1 && prefs.narrow == 0.3 && prefs.whole == 9_007_199_254_740_993)
        #expect(prefs.wait == .seconds(1.5) && prefs.since == Date(timeIntervalSinceReferenceDate: 5))
        #expect(prefs.any["a"] as? Double == 12345678901234568 && (prefs.any["b"] as? [Double]) == [.infinity, 1.5])
        #expect(prefs["other"] as? Double == 12345678901234567741440 && prefs["others"] as? [Double] == [0])
        #expect(prefs.lastError == nil)
        // Nobody changes them, whichever way their values are written.
        (prefs.ratio, prefs.narrow, prefs.whole, prefs.any) = (prefs.ratio, prefs.narrow, prefs.whole, prefs.any)
        prefs.values = prefs.values
        prefs["other"] = prefs["other"]
        prefs["others"] = prefs["others"]
        try PrefsStore.json(url: url).update(root: "ShopPrefs") { $0 = $0 }
        #expect(try self.text() == text && prefs.lastError == nil)
        prefs["others"] = [0.0, 2]
        prefs.any["c"] = 1
        #expect(try self.text().contains(#"{"a": 12345678901234567.89, "b": [1e400, 1.5], "c": 1}"#))
        #expect(try self.text().contains(#""others": [1e-400, 2.0]"#))
    }

    @Test func moreDigitsThanADecimalAreRejected() throws {
        let text = #"{"price": 0.1234567890123456789012345678901234567890123}"#
        let prefs = try prefs(text)
        #expect(prefs.price == 0)
        #expect(
            prefs.lastError?.description
                == "price: expected Decimal, found a real number with more digits than a Decimal has")
        let large = try self.prefs(#"{"price": 1e400}"#)
        #expect(large.price == 0)
        #expect(large.lastError?.description == "price: expected Decimal, found a real number out of its range")
    }

    @Test func anImportKeepsAllDigits() throws {
        let prefs = ShopPrefs(store: .memory())
        let json = #"{"price": 12345678901234567.89, "ratio": 0.10000000000000000555, "other": 0.10000000000000000555}"#
        #expect(prefs.import(Data(json.utf8), merge: true) == nil)
        #expect(try prefs.price == decimal("12345678901234567.89") && prefs.ratio == 0.1)
        #expect(prefs["other"] as? Double == 0.1 && prefs.exportedText.contains("\"other\": 0.1,"))
    }

    struct Basket: SettingsFile, Equatable {
        var total = Decimal(1)
        var items: [Item] = []

        static var settingsFormat: FileFormat { .json }
        static var settingsURL: URL { url }
        @TaskLocal static var url = URL(filePath: "/nowhere")
    }

    @Test func aSettingsFileKeepsDigitsAndForm() throws {
        try put(#"{"total": 12345678901234567.89, "items": [{"price": 1.25, "name": "x"}]}"#)
        try Basket.$url.withValue(url) {
            var basket = Basket()
            try basket.tryLoad()
            #expect(try basket.total == decimal("12345678901234567.89"))
            basket.total += try decimal("0.01")
            basket.items[0].price = 2
            try basket.trySave()
        }
        #expect(try text() == #"{"total": 12345678901234567.9, "items": [{"price": 2, "name": "x"}]}"#)
    }
}
