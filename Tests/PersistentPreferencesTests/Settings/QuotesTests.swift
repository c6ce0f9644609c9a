import Foundation
import PersistentPreferences
import TestSupport
import Testing

private struct Quote: Equatable {
    var author: String
    var text: String
}

extension Quote: PropertyListModel {
    enum Key: String, PropertyListKey { case author, text }

    init(_ dictionary: PropertyListDictionary) throws {
        author = try dictionary.value(for: Key.author)
        text = try dictionary.value(for: Key.text)
    }

    func encode(to dictionary: inout PropertyListDictionary) throws {
        try dictionary.set(author, for: Key.author)
        try dictionary.set(text, for: Key.text)
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
        let status = try FileManager.default.attributesOfItem(atPath: quotes.url.path)
        try controller().save()
        let after = try FileManager.default.attributesOfItem(atPath: quotes.url.path)
        #expect(after[.systemFileNumber] as? Int == status[.systemFileNumber] as? Int)
    }

    private enum Wrong: String, CaseIterable {
        case missing = "[0].text: is missing"
        case otherType = "[1].author: expected String, found an integer"
        case noDictionary = "[0]: expected a dictionary, found a string"
        case noArray = ": expected an array, found a dictionary"

        var root: Any {
            switch self {
            case .missing: [["author": "Seneca"]]
            case .otherType: [["author": "Seneca", "text": "x"], ["author": 1, "text": "x"]]
            case .noDictionary: ["Seneca"]
            case .noArray: ["author": "Seneca"]
            }
        }
    }

    @Test(arguments: Wrong.allCases)
    private func aWrongFileGivesAnErrorThatNamesThePlace(_ wrong: Wrong) throws {
        try FileManager.default.createDirectory(at: folder.file("data"), withIntermediateDirectories: true)
        try writePropertyList(wrong.root, to: folder.file("data/Quotes.plist"))
        let bytes = try Data(contentsOf: folder.file("data/Quotes.plist"))
        let failure = #expect(throws: PropertyListFailure.self) { try controller() }
        #expect(failure?.description == wrong.rawValue)
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

    @Test func withoutAnyFileThereAreNoModels() throws {
        let none = try PropertyListController<Quote>(resource: "None", in: .module, folder: folder.file("data"))
        #expect(none.models.isEmpty)
    }
}
