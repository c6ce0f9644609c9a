@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Malformed files that this package has not written read as the known state, and are never changed.
@Suite struct NotOursTests {
    private let folder = TemporaryFolder.fresh
    /// System calls whose pauses take no time.
    private let system = RecordingSystemCalls()

    private func prefs() -> AnyPrefs { folder.prefs(system: system) }

    /// A program only reads a file that a person maintains. After a typo, it continues with the state that it has read.
    @Test func whatWasReadFromItStays() throws {
        try writePropertyList(["AnyPrefs": ["a": 1]], to: folder.file(), as: .xml)
        let prefs = prefs()
        #expect(prefs.ints == ["a": 1])
        try folder.damage()
        let before = try FolderState(folder)
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.lastError?.detail(of: PrefsError.notOurs)?.state == .lastKnown, "\(prefs.outcome)")
        prefs["a"] = 2
        #expect(try FolderState(folder) == before)
        // Once it is gone, nothing is known any more.
        try FileManager.default.removeItem(at: folder.file())
        #expect(prefs.values.isEmpty)
        try folder.damage()
        #expect(prefs.values.isEmpty)
    }

    @Test(arguments: [
        ("{ \"a\": 1, }", "is text that begins with {, not a property list"),
        ("\u{FEFF}{\"a\": 1}", "is text that begins with {, not a property list"),
        ("[]", "is text that begins with [, not a property list"),
        ("{ a = 1; }", "is text that begins with {, not a property list"),
        ("// theirs\n{ a = 1; }\n", "is neither a binary nor an XML property list"),
        ("( a, b", "is text that begins with (, not a property list"),
        ("<html><body/></html>", "is XML, but its root element is <html>, not <plist>"),
        ("<?xml version=\"1.0\"?><!-- c --><svg/>", "is XML, but its root element is <svg>, not <plist>"),
        ("<plist><array/></plist>", "its top level is not a dictionary"),
    ])
    func itsFormatIsNamed(_ text: String, _ reason: String) throws {
        try folder.damage(text)
        #expect(prefs().lastError?.detail(of: PrefsError.notOurs)?.reason == reason)
    }

    @Test func aNameWithoutRoomForRecoveryIsRejected() throws {
        let longest = String(repeating: "n", count: 218)
        let prefs = folder.prefs(longest, system: system)
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        try Data("hello".utf8).write(to: folder.file(longest))
        prefs["a"] = 2
        #expect(prefs.lastError?.isWarning == true, "\(prefs.outcome)")
        let names = try folder.names()
        for (letter, length) in [("n", 219), ("n", 225), ("n", 249), ("n", 255), ("ü", 220)] {
            let name = String(repeating: letter, count: length / letter.utf8.count)
            let tooLong = folder.prefs(name, system: system)
            #expect(tooLong.outcome == "ok")
            tooLong["a"] = 1
            #expect(tooLong.outcome.contains("its name has \(length) bytes; expected at most 218"))
        }
        #expect(try folder.names() == names)
    }
}
