@testable import PrefsSupport
import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// A file in JSON: the written bytes, the edits of people and other programs, and changes of the format.
@Suite final class JSONFileTests: FolderSuite {
    /// System calls whose pauses take no time.
    private let system = RecordingSystemCalls()

    private func prefs(_ layout: DomainLayout = .roots, format: FileFormat = .json) -> AnyPrefs {
        AnyPrefs(store: .propertyList(url: url, format: format, layout: layout, system: system))
    }

    override var url: URL { folder.file() }

    // MARK: - Writing

    @Test func theFileIsTheJSONOfAnExport() throws {
        let values: [String: Any] = [
            "b": [1, 2.0, true], "a": ["z": Data([1]), "k": Date(timeIntervalSinceReferenceDate: 0.5)], "c": "é",
        ]
        do { prefs(.flat).values = values }
        // Reads the file and not the cache, because the registry has dropped the file.
        let prefs = prefs(.flat)
        #expect(StoredValue.areEqual(prefs.values, values))
        #expect(try Data(contentsOf: folder.file()) == prefs.exported(as: .json))
        #expect(
            try text() == """
                {
                  "a": {
                    "k": {"$date": "2001-01-01T00:00:00.5Z"},
                    "z": {"$data": "AQ=="}
                  },
                  "b": [
                    1,
                    2.0,
                    true
                  ],
                  "c": "é"
                }

                """)
    }

    // MARK: - Reading

    @Test(arguments: [
        (
            "{\"Other\":[{\"$$data\":18446744073709551615},-0.0],\"AnyPrefs\":{\"a\":1000.0,\"b\":\"é\\n\"#}}",
            ",\"c\":false"
        ),
        (
            "\u{FEFF}{\r\n\t\"AnyPrefs\" : { \"b\" : \"\\u00e9\\n\" ,\r\n \"a\" : 1e3# }\r\n}\r\n",
            ",\r\n \"c\" : false"
        ),
        ("\n\n{ \"AnyPrefs\": {\n\"b\": \"\\u00E9\\u000a\", \"a\": 1.0E+3# }}", ",\n\"c\": false"),
        ("// mine\n{\"AnyPrefs\": {\"a\": 1e3, /* b */ \"b\": \"é\\n\"#,},}\n//", ", \"c\": false"),
    ])
    func whatPeopleWriteIsRead(_ text: String, _ added: String) throws {
        try put(text.replacing("#", with: ""))
        let prefs = prefs()
        #expect(prefs.outcome == "ok")
        #expect(StoredValue.areEqual(prefs.values, ["a": 1_000.0 as NSNumber, "b": "é\n"]))
        // The next write adds its key, and changes nothing else.
        prefs["c"] = false
        #expect(prefs.outcome == "ok")
        #expect(try self.text() == text.replacing("#", with: added))
        #expect(try folder.quarantined().isEmpty)
    }

    @Test(arguments: [
        (Data("[1]".utf8), "its top level is not a dictionary"),
        (Data("{\"a\": 1,,}".utf8), "expected a key in quotes"),
        (Data([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]), "expected JSON in UTF-8, found UTF-16"),
    ])
    func aFileThatWeHaveNotWrittenIsNeverChanged(_ bytes: Data, _ reason: String) throws {
        try bytes.write(to: url)
        let before = try FolderState(folder)
        let prefs = prefs()
        #expect(prefs.lastError.kind == "notOurs" && prefs.lastError.file?.reason == reason)
        prefs["a"] = 1
        #expect(try FolderState(folder) == before)
    }

    /// It may be good JSON of another program, so it is neither read nor replaced.
    @Test func whatCannotBeKeptIsUnreadable() throws {
        let marks = String(repeating: "\u{301}", count: 31)
        let texts = [
            ("{\"\u{E9}\": 1, \"e\u{301}\": 2}", "in two spellings"), ("{\"a\(marks)\": 1}", "combining marks"),
            ("{\"a\":" + String(repeating: "[", count: 200), "nested deeper than 80 levels"),
        ]
        prefs()["a"] = 1
        for (text, reason) in texts {
            try put(text)
            let before = try FolderState(folder)
            let prefs = prefs()
            #expect(prefs.outcome.contains("line 1, column ") && prefs.outcome.contains(reason), "\(prefs.outcome)")
            prefs["a"] = 2
            #expect(prefs.lastError.kind == "unreadable")
            #expect(try FolderState(folder) == before)
        }
    }

    // MARK: - Other formats

    /// The store with the format JSON reads property lists, too, and keeps their format.
    @Test(arguments: FileFormat.propertyLists)
    func anExistingPropertyListKeepsItsFormat(_ format: FileFormat) throws {
        prefs(format: format)["a"] = 1
        let prefs = prefs()
        #expect(prefs.ints == ["a": 1])
        prefs["b"] = 2
        #expect(try PropertyListCoder.decode(Data(contentsOf: folder.file())).format == format)
        // Damaged, it is restored in its format.
        try folder.damage()
        self.prefs()["c"] = 3
        #expect(try PropertyListCoder.decode(Data(contentsOf: folder.file())).format == format)
        #expect(self.prefs().ints == ["a": 1, "b": 2, "c": 3])
    }

    /// A store with another format names JSON and leaves it alone, although there is a last good copy.
    @Test(
        arguments: FileFormat.propertyLists,
        [
            (nil, "is text that begins with {, not a property list"),
            ("{\"AnyPrefs\": {,}}", "is text that begins with {, not a property list"),
            ("", "is empty"),
        ])
    func anotherStoreNeverReplacesJSON(_ format: FileFormat, _ edited: (text: String?, reason: String)) throws {
        prefs()["a"] = 1
        if let text = edited.text { try put(text) }
        let before = try FolderState(folder)
        do {
            let other = prefs(format: format)
            #expect(other.values.isEmpty)
            other["a"] = 5
            // One of the reads, and one of the write.
            #expect(other.errors.count == 2)
            #expect(other.lastError.kind == "notOurs" && other.lastError.file?.reason == edited.reason)
            other.deleteRoot()
        }
        #expect(try FolderState(folder) == before)
        // What an empty file means depends on its age.
        if edited.text != "" { #expect(prefs().ints == ["a": 1]) }
    }

    /// JSON in the place of a property list that this package has written is damage, as before.
    @Test func aPropertyListTurnedIntoJSONIsDamaged() throws {
        prefs(format: .binary)["a"] = 1
        try put("{\"AnyPrefs\": {\"a\": 2}}")
        let prefs = prefs(format: .binary)
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.lastError.kind == "damaged")
        #expect(prefs.lastError.file?.reason == "is text that begins with {, not a property list")
    }

    /// Stores on one file share its state, so JSON is read by all of them as soon as one has that format.
    @Test func storesOfTwoFormatsInOneProcess() throws {
        try put("{\"AnyPrefs\": {\"a\": 1}}")
        let binary = prefs(format: .binary)
        #expect(binary.lastError.kind == "notOurs")
        let json = prefs()
        #expect(json.ints == ["a": 1])
        #expect(binary.ints == ["a": 1])
        binary["b"] = 2
        #expect(try text() == "{\"AnyPrefs\": {\"a\": 1, \"b\": 2}}")
        #expect(json.ints == ["a": 1, "b": 2])
    }
}
