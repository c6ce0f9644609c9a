import Foundation
import TestSupport
import Testing

/// `prefs watch -f WHERE` prints the changed places of any file or suite.
@Suite final class DomainWatchTests: HarnessSuite {
    @Test func everyChangedPlaceIsPrinted() throws {
        let content: [String: Any] = ["A": ["list": [1, 2], "name": "Ann"] as [String: Any], "b": true]
        let file = try home.write(content, to: "s.plist").path
        let watching = try Watching(["-f", file], at: file, in: home)
        try prefs("set", "-f", file, "A.list", "[1,3]")
        #expect(try watching.line() == "TIME  A.list[1]: 2 → 3")
        try prefs("set", "-f", file, "A.list", "[1,3,4]")
        #expect(try watching.line() == "TIME  A.list[2]: (not set) → 4")
        try prefs("set", "-f", file, "A.name", "two\nlines")
        #expect(try watching.line() == #"TIME  A.name: Ann → two\nlines"#)
        // One write of another program with several changes.
        try home.write(["A": ["list": [1, 3, 4], "new": 0] as [String: Any], "c": 1.5], to: "s.plist")
        let lines = try (0..<4).map { _ in try watching.line() }
        #expect(
            lines == [
                #"TIME  A.name: two\nlines → (not set)"#, "TIME  A.new: (not set) → 0",
                "TIME  b: true → (not set)", "TIME  c: (not set) → 1.5",
            ])
        watching.child.send(SIGINT)
        #expect(try watching.child.exitCode() == 0)
        #expect(watching.child.linesSoFar().isEmpty)
    }

    @Test func selectedPlacesArePrintedAsJSON() throws {
        let file = home.path("s.plist")
        let watching = try Watching(["-f", file, "A.list[0]", "A.list", "x.y", "--json"], at: file, in: home)
        try prefs("set", "-f", file, "A.other", "unheard")
        try prefs("set", "-f", file, "A.list", "[1,2]")
        #expect(try watching.line() == #"{"time":"TIME","key":"A.list[0]","path":["A","list",0],"old":null,"new":1}"#)
        #expect(try watching.line() == #"{"time":"TIME","key":"A.list","path":["A","list"],"old":null,"new":[1,2]}"#)
        try prefs("set", "-f", file, "A.list", "[3,2]")
        // The places overlap, and the change is printed once.
        #expect(try watching.line() == #"{"time":"TIME","key":"A.list[0]","path":["A","list",0],"old":1,"new":3}"#)
        // A key with a dot is not split.
        try prefs("set", "-f", file, #"x\.y"#, "true")
        #expect(try watching.line() == #"{"time":"TIME","key":"x\\.y","path":["x.y"],"old":null,"new":true}"#)
    }

    @Test func aSuiteIsWatchedByItsName() throws {
        try prefs("set", "-f", "org.example", "k", "1", "--force")
        let place = home.domainFile("org.example").path(percentEncoded: false)
        let watching = try Watching(["-f", "org.example"], at: place, in: home)
        try prefs("set", "-f", "org.example", "k", "2")
        #expect(try watching.line() == "TIME  k: 1 → 2")
        // The name of a domain may be a typing error.
        let misspelled = try prefs("watch", "-f", "org.exampel")
        #expect(misspelled.errors.hasPrefix("prefs: UserDefaults suite \"org.exampel\" not found: "))
    }

    @Test func aRemovalIsPrinted() throws {
        let file = try home.write(["a": 1, "b": [1]] as [String: Any], to: "s.plist").path
        let watching = try Watching(["-f", file], at: file, in: home)
        unlink(file)
        #expect(try [watching.line(), watching.line()] == ["TIME  a: 1 → (not set)", "TIME  b: [1] → (not set)"])
        try home.write(["a": 2], to: "s.plist")
        #expect(try watching.line() == "TIME  a: (not set) → 2")
    }

    /// As when a release is replaced by the next one.
    @Test func aLinkThatMovesIsFollowed() throws {
        try home.write(["a": 1], to: "one.plist")
        try home.write(["a": 2], to: "two.plist")
        let link = home.path("current.plist")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "one.plist")
        let watching = try Watching(["-f", link], at: link, in: home)
        try FileManager.default.createSymbolicLink(atPath: home.path("new"), withDestinationPath: "two.plist")
        try #require(rename(home.path("new"), link) == 0)
        #expect(try watching.line() == "TIME  a: 1 → 2")
        try prefs("set", "-f", link, "a", "3")
        #expect(try watching.line() == "TIME  a: 2 → 3")
    }
}
