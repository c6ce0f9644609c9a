import Foundation
import PersistentPreferences
import PrefsDocuments
import Testing
import TestSupport

/// A store with the format `xml`, on a launchd job that a person writes.
@Suite final class XMLTextStoreTests {
    private let folder: TemporaryFolder
    private var url: URL { folder.file("job.plist") }

    private static let text =
        "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict>\n  <!-- mine -->\n  <key>Label</key> <string>a</string>\n"
        + "  <key>Nice</key> <integer>5</integer>\n</dict>\n</plist>\n"

    init() throws {
        folder = try TemporaryFolder()
        try Data(Self.text.utf8).write(to: url)
    }

    private final class JobPrefs: Prefs, @unchecked Sendable {
        @Pref("Nice") var nice = 0
        @Pref("Label") var label = ""
    }

    private func job(_ format: FileFormat = .xml) -> JobPrefs {
        JobPrefs(store: .propertyList(url: url, format: format, durability: .crash, layout: .flat))
    }

    private var text: String { get throws { try String(decoding: Data(contentsOf: url), as: UTF8.self) } }

    @Test func aWriteKeepsTheText() throws {
        let prefs = job()
        prefs.nice = 6
        #expect(prefs.lastError == nil)
        #expect(try text == Self.text.replacing(">5<", with: ">6<"))
        // The last good copy has the text, too.
        try Data(Self.text.utf8.dropLast(60)).write(to: url)
        #expect(prefs.nice == 6)
    }

    /// The store that keeps the text comes after one that has read the file.
    @Test func allStoresOnTheFileKeepTheText() throws {
        let plain = job(.plainXML)
        #expect(plain.nice == 5)
        #expect(job().label == "a")
        plain.nice = 7
        #expect(try text == Self.text.replacing(">5<", with: ">7<"))
    }

    @Test func withoutItTheFileIsLaidOutAnew() throws {
        job(.plainXML).nice = 7
        #expect(try !text.contains("mine"))
    }

    @Test func aTypingErrorIsNeitherMovedNorReplaced() throws {
        let prefs = job()
        prefs.nice = 6
        let broken = Self.text.replacing("</integer>", with: "</integr>")
        try Data(broken.utf8).write(to: url)
        prefs.nice = 8
        guard case .damaged(let file)? = prefs.lastError else {
            Issue.record("\(String(describing: prefs.lastError))")
            return
        }
        #expect(file.line == 6)
        #expect(try text == broken)
        #expect(prefs.nice == 6)
        try Data(Self.text.utf8).write(to: url)
        prefs.nice = 8
        #expect(try text == Self.text.replacing(">5<", with: ">8<"))
    }

    @Test func aValueThatXMLCannotHoldIsRejected() throws {
        let prefs = job()
        prefs.label = "\u{7}"
        #expect("\(String(describing: prefs.lastError))".contains("Label: the control character U+0007"))
        #expect(try text == Self.text)
    }

    @Test func aNewFileIsTheOneOfFoundation() throws {
        try FileManager.default.removeItem(at: url)
        job().nice = 1
        let plain = folder.file("plain.plist")
        JobPrefs(store: .propertyList(url: plain, format: .plainXML, layout: .flat)).nice = 1
        #expect(try Data(contentsOf: url) == Data(contentsOf: plain))
    }

    @Test func bothAreOneFormat() { #expect(FileFormat.xml.name == "xml" && FileFormat.plainXML.name == "xml") }
}
