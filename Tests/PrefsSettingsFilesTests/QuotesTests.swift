@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing
import PrefsSettingsFiles

private struct Quote: Equatable, Encodable {
    var author: String
    var text: String
}

extension Quote: PropertyListModel {
    enum Key: String, PropertyListKey { case author, text }

    init(_ dictionary: PropertyListDictionary) throws {
        author = try dictionary.value(for: Key.author)
        text = try dictionary.value(for: Key.text)
    }
}

/// The example of seed 002: quotes from a bundled property list whose root is an array.
@Suite struct QuotesTests {
    private let folder: TemporaryFolder
    private let bundled = [
        Quote(author: "Seneca", text: "Errare humanum est."), Quote(author: "Horace", text: "Carpe diem."),
    ]

    init() throws { folder = try TemporaryFolder() }

    private func controller() throws -> PropertyListController<Quote> {
        try PropertyListController(resource: "Quotes", in: .module, folder: folder.file("data"))
    }

    @Test func theBundledFileComesFirst() throws {
        let quotes = try controller()
        #expect(quotes.models == bundled)
        #expect(!FileManager.default.fileExists(atPath: folder.file("data").path))
        // Without any file, there are no models.
        let none = try PropertyListController<Quote>(resource: "None", in: .module, folder: folder.file("data"))
        #expect(none.models.isEmpty)
    }

    @Test func savedQuotesAreReadFromTheFolder() throws {
        let quotes = try controller()
        quotes.models.append(Quote(author: "Ovid", text: "Gutta cavat lapidem."))
        quotes.models.removeFirst()
        try quotes.save()
        #expect(try controller().models == quotes.models)
        let root = try PropertyListSerialization.propertyList(from: Data(contentsOf: quotes.url), format: nil)
        #expect(root as? [[String: String]] == quotes.models.map { ["author": $0.author, "text": $0.text] })
        quotes.models = []
        try quotes.save()
        #expect(try controller().models == [], "an empty list is not a missing one")
    }

    @Test func savingWhatIsThereWritesNothing() throws {
        let quotes = try controller()
        try quotes.save()
        let before = try fileNumber(at: quotes.url)
        try controller().save()
        #expect(try fileNumber(at: quotes.url) == before)
    }

    /// The roots of wrong files by what the error says.
    private static let wrong: [String: any Sendable] = [
        "[0].text: is missing": [["author": "Seneca"]],
        "[0].author: expected String, found an integer": [["author": 1, "text": "x"] as [String: any Sendable]],
        "[1].text: is missing": [["author": "Seneca", "text": "x"], ["author": "Seneca"]],
        "[0]: expected a dictionary, found a string": ["Seneca"],
        "expected an array or a dictionary, found a string": "Seneca",
    ]

    @Test(arguments: wrong.keys.sorted()) func aWrongFileGivesAnErrorThatNamesThePlace(_ message: String) throws {
        try FileManager.default.createDirectory(at: folder.file("data"), withIntermediateDirectories: true)
        try writePropertyList(#require(Self.wrong[message]), to: folder.file("data/Quotes.plist"))
        let bytes = try Data(contentsOf: folder.file("data/Quotes.plist"))
        let failure = #expect(throws: PrefsError.self) { try controller() }
        #expect(failure?.description == message)
        #expect(try Data(contentsOf: folder.file("data/Quotes.plist")) == bytes)
    }

    @Test func aDamagedFileIsAnErrorAndASaveQuarantinesIt() throws {
        let quotes = try controller()
        quotes.models = [Quote(author: "Ovid", text: "Tempora mutantur.")]
        try quotes.save()
        try Data("damaged".utf8).write(to: quotes.url)
        let before = try FolderState(in: quotes.url.deletingLastPathComponent().path)
        for _ in 0..<2 {
            let error = #expect(throws: PrefsError.self) { try controller() }
            #expect(error.map { "\($0)".contains("the file is unchanged") } == true)
        }
        #expect(try FolderState(in: quotes.url.deletingLastPathComponent().path) == before)
        quotes.models.append(bundled[1])
        try quotes.save()
        #expect(try controller().models == quotes.models)
        let names = try FileManager.default.contentsOfDirectory(atPath: quotes.url.deletingLastPathComponent().path)
        #expect(names.count { $0.hasPrefix("Quotes.plist.corrupt-") } == 1)
    }

    /// XML has whole seconds.
    @Test func aDateThatTheFormatRoundsIsNoChange() throws {
        let url = folder.file("dates.plist")
        try PropertyListSerialization.data(fromPropertyList: [], format: .xml, options: 0).write(to: url)
        let dates = try PropertyListController<[Date]>(url: url)
        for seconds in [0.5, 1.5] {
            dates.models.append([Date(timeIntervalSinceReferenceDate: seconds)])
            try dates.save()
        }
        #expect(try PropertyListController<[Date]>(url: url).models.count == 2)
    }

    @Test func aSaveOfAnotherControllerIsNotOverwritten() throws {
        let (one, other) = (try controller(), try controller())
        one.models.removeLast()
        try one.save()
        other.models.removeFirst()
        #expect(throws: PrefsError.self) { try other.save() }
        #expect(try controller().models == one.models)
        one.models.append(bundled[1])
        try one.save()
        #expect(try controller().models == bundled)
    }

    @Test func aResourceIsReadWithoutAFolder() throws {
        let quotes = try PropertyListController<Quote>(resource: "Quotes", in: .module)
        #expect(quotes.models == bundled && quotes.url.lastPathComponent == "Quotes.plist")
        let bytes = try Data(contentsOf: quotes.url)
        quotes.models.removeAll()
        let error = #expect(throws: PrefsError.self) { try quotes.save() }
        #expect(error.map { "\($0)".contains("was read without a folder to save to") } == true)
        #expect(try Data(contentsOf: quotes.url) == bytes)
        let missing = #expect(throws: PrefsError.self) {
            try PropertyListController<Quote>(resource: "None", in: .module)
        }
        #expect(missing.map { "\($0)".contains("None.plist: there is no such resource") } == true)
    }

    /// The model of seed 002, which only has an initializer.
    private struct ReadQuote: PropertyListModel {
        let author: String

        init(_ dictionary: PropertyListDictionary) throws { author = try dictionary.value(for: Quote.Key.author) }
    }

    private struct DecodedQuote: Decodable { var text: String }

    @Test func aModelThatIsOnlyReadEncodesNothing() throws {
        let read = try PropertyListController<ReadQuote>(resource: "Quotes", in: .module, folder: folder.file("data"))
        #expect(read.models.map(\.author) == ["Seneca", "Horace"])
        let decoded = try PropertyListController<DecodedQuote>(
            resource: "Quotes", in: .module, folder: folder.file("data"))
        #expect(decoded.models.map(\.text) == bundled.map(\.text))
        for (name, save) in [("ReadQuote", read.save), ("DecodedQuote", decoded.save)] {
            let failure = #expect(throws: PrefsError.self) { try save() }
            #expect(failure?.description == "[0]: \(name) cannot be saved, because it is not Encodable")
            #expect(failure == .valuesNotPlistCompatible(invalidElements: ["[0]"]))
        }
        #expect(!FileManager.default.fileExists(atPath: read.url.path))
    }

    private struct CodableQuote: Codable, Equatable {
        var author: String
        var text: String
        var price: Decimal?
    }

    @Test func codableModelsAreLoadedAndSaved() throws {
        func open() throws -> PropertyListController<CodableQuote> {
            try PropertyListController(resource: "Quotes", in: .module, folder: folder.file("data"))
        }
        let quotes = try open()
        #expect(quotes.models.map(\.text) == bundled.map(\.text))
        quotes.models[0].price = Decimal(string: "0.1")
        try quotes.save()
        #expect(try open().models == quotes.models)
        #expect(try controller().models == bundled, "the file is the same for a PropertyListModel")
        try writePropertyList([["author": "a", "text": "b"], ["author": "a"]], to: quotes.url)
        let missing = #expect(throws: PrefsError.self) { try open() }
        #expect(missing?.description == "[1]: the key \"text\" is missing")
        try writePropertyList([["author": "a", "text": 5]], to: quotes.url)
        let mistyped = #expect(throws: PrefsError.self) { try open() }
        #expect(mistyped?.description == "[0].text: expected String, found an integer")
        #expect(mistyped?.problems.map(\.topLevelKey) == ["[0]"] && mistyped?.problems.map(\.path) == ["[0].text"])
    }

    @Test func theModelsOwnCodingComesFirst() throws {
        struct Both: Codable, PropertyListModel {
            var author: String

            init(_ dictionary: PropertyListDictionary) throws {
                author = "by " + (try dictionary.value(for: Quote.Key.author))
            }
        }
        let both = try PropertyListController<Both>(resource: "Quotes", in: .module)
        #expect(both.models.map(\.author) == ["by Seneca", "by Horace"])
    }

    @Test func aDictionaryAsRootIsTheOnlyModel() throws {
        try FileManager.default.createDirectory(at: folder.file("data"), withIntermediateDirectories: true)
        let file = folder.file("data/Quotes.plist")
        try writePropertyList(["author": "Ovid", "text": "x"], to: file)
        let quotes = try controller()
        #expect(quotes.models == [Quote(author: "Ovid", text: "x")])
        quotes.models[0].text = "y"
        try quotes.save()
        #expect(try propertyList(at: file) as NSDictionary == ["author": "Ovid", "text": "y"])
        for models in [[], bundled] {
            quotes.models = models
            let failure = #expect(throws: PrefsError.self) { try quotes.save() }
            let found = "expected one model, because the root is a dictionary, found \(models.count)"
            #expect(failure?.description == found)
        }
        #expect(try controller().models == [Quote(author: "Ovid", text: "y")])
        try writePropertyList(["author": "Ovid"], to: file)
        let failure = #expect(throws: PrefsError.self) { try controller() }
        #expect(failure?.description == "text: is missing")
        // Models under names, or beside other keys, are a Codable root.
        try writePropertyList(["first": ["author": "a", "text": "b"]], to: file)
        let byName = try PropertyListController<[String: CodableQuote]>(
            resource: "Quotes", in: .module, folder: folder.file("data"))
        #expect(byName.models == [["first": CodableQuote(author: "a", text: "b")]])
        byName.models[0]["second"] = CodableQuote(author: "c", text: "d")
        try byName.save()
        #expect(try propertyList(at: file)["second"] as? [String: String] == ["author": "c", "text": "d"])
    }

    @Test func aFileByItsURL() throws {
        let url = folder.file("deep/own.plist")
        let quotes = try PropertyListController<Quote>(url: url)
        #expect(quotes.models.isEmpty && quotes.url == url)
        quotes.models = bundled
        try quotes.save()
        #expect(try PropertyListController<Quote>(url: url).models == bundled)
        try Data("{".utf8).write(to: folder.file("bad.plist"))
        #expect(throws: PrefsError.self) { try PropertyListController<Quote>(url: folder.file("bad.plist")) }
    }

    @Test func aDictionaryOfAFile() throws {
        let url = folder.file("one.plist")
        try writePropertyList(["author": "Seneca", "text": "x"], to: url)
        #expect(try Quote(PropertyListDictionary(contentsOf: url)) == Quote(author: "Seneca", text: "x"))
        #expect(throws: PrefsError.self) { try PropertyListDictionary(contentsOf: folder.file("missing.plist")) }
        try writePropertyList([1], to: url)
        #expect(throws: PrefsError.self) { try PropertyListDictionary(contentsOf: url) }
    }

    @Test func everyTypeOfValueIsReadFromADictionary() throws {
        enum Key: String, PropertyListKey { case text, number, real, flag, date, data, list, inner, mixed }
        let date = Date(timeIntervalSinceReferenceDate: 0.5)
        let values: [String: Any] = [
            "text": "x", "number": Int.max, "real": 1.5, "flag": true, "date": date, "data": Data([1]),
            "list": ["a", "b"], "inner": ["k": [1, 2]], "mixed": ["a", 1] as [Any],
        ]
        try writePropertyList(values, to: folder.file())
        let dictionary = try PropertyListDictionary(contentsOf: folder.file())
        #expect(try dictionary.value(for: Key.text) == "x" && dictionary.value(for: Key.number) == Int.max)
        #expect(try dictionary.value(for: Key.real) == 1.5 && dictionary.value(for: Key.flag) == true)
        #expect(try dictionary.value(for: Key.date) == date && dictionary.value(for: Key.data) == Data([1]))
        #expect(try dictionary.value(for: Key.list) == ["a", "b"])
        #expect(try dictionary.value(for: Key.inner, as: [String: [Int]].self) == ["k": [1, 2]])
        let failure = #expect(throws: PrefsError.self) {
            try dictionary.value(for: Key.mixed, as: [String].self)
        }
        #expect(failure?.description == "mixed[1]: expected String, found an integer")
    }
}
