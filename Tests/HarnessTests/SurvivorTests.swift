import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// Conditions of the tool that no other test would miss.
@Suite(.waits) final class SurvivorTests: HarnessSuite {
    private var path: String { home.path("x.json") }

    /// A null is a place without a value, so nothing is lost.
    @Test func aCopyOverNullAsksNothing() throws {
        try home.write(#"{"a": 1, "b": null, "c": "t"}"#, to: "x.json")
        #expect(try prefs("cp", "-f", path, "a", "b") == Printed())
        #expect(try home.text("x.json") == #"{"a": 1, "b": 1, "c": "t"}"#)
        #expect(try prefs("cp", "-f", path, "a", "c").code == 1)
    }

    @Test func anUndoIsOfTheFileAndNotOfItsName() throws {
        let files = try ["one", "two"].map { folder in
            try FileManager.default.createDirectory(
                at: home.folder.file(folder), withIntermediateDirectories: false)
            return try home.write(#"{"a": "\#(folder)"}"#, to: "\(folder)/x.json").path
        }
        for file in files { #expect(try prefs("set", "-f", file, "a", "new") == Printed()) }
        #expect(try prefs("undo", "-f", files[0]) == Printed("~ a: new → one\n"))
        #expect(try prefs("undo", "-f", files[1]) == Printed("~ a: new → two\n"))
        #expect(try home.text("one/x.json") == #"{"a": "one"}"#)
        #expect(try home.text("two/x.json") == #"{"a": "two"}"#)
    }

    @Test func aKeyWithABlankAtItsEndIsShownInQuotes() throws {
        try home.write(#"{"a ": {"b ": 1}}"#, to: "x.json")
        #expect(try prefs("find", "-f", path, "1") == Printed("[\"a \"][\"b \"]: 1\n"))
        #expect(try prefs("get", "-f", path, #"["a "]["b "]"#) == Printed("1\n"))
    }

    @Test func aSumOfManyDigitsStaysAFloat() throws {
        try home.write(#"{"n": 12345678901234567890.5}"#, to: "x.json")
        #expect(try prefs("set", "-f", path, "n", "+0.5") == Printed())
        #expect(try home.text("x.json") == #"{"n": 12345678901234567891.0}"#)
    }

    @Test func anErrorNamesTheElement() throws {
        let file = home.path("p.plist")
        let printed = try prefs("set", "array", "-t", "json", #"["a", 5]"#, in: file)
        #expect(printed == .failure("array[1]: expected String, found an integer"), "\(printed)")
    }

    @Test(arguments: [("/a", true), ("/a/", true), ("/a/x", true), ("/ab", false), ("/ab/x", false), ("/", false)])
    func aMountCoversItsOwnPaths(_ path: String, _ isCovered: Bool) {
        #expect(Mount(place: Array("/a".utf8), type: "tmpfs", options: []).covers(path) == isCovered)
        #expect(Mount(place: Array("/".utf8), type: "tmpfs", options: []).covers(path))
    }
}
