import Foundation
import TestSupport
import Testing

/// `prefs watch -f WHERE` prints the changed places of any file or suite.
@Suite struct DomainWatchTests {
    private struct Watching {
        let child: PipedChild

        init(_ arguments: [String], at place: String, in home: HarnessHome) throws {
            child = try PipedChild("prefs", ["watch"] + arguments, home: home.folder, mergesErrors: true)
            #expect(try child.line() == "prefs: watching \(place); press Ctrl-C to stop")
        }

        /// Returns the next line with `TIME` instead of its time.
        func line() throws -> String {
            let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z/
            return try child.line().replacing(form, with: "TIME", maxReplacements: 1)
        }
    }

    @Test func everyChangedPlaceIsPrinted() throws {
        let home = try HarnessHome()
        let content: [String: Any] = ["A": ["list": [1, 2], "name": "Ann"] as [String: Any], "b": true]
        let file = try home.write(content, to: "s.plist").path
        let watching = try Watching(["-f", file], at: file, in: home)
        try home.prefs("set", "-f", file, "A.list", "[1,3]")
        #expect(try watching.line() == "TIME  A.list[1]: 2 → 3")
        try home.prefs("set", "-f", file, "A.list", "[1,3,4]")
        #expect(try watching.line() == "TIME  A.list[2]: (not set) → 4")
        try home.prefs("set", "-f", file, "A.name", "two\nlines")
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
        let home = try HarnessHome()
        let file = home.path("s.plist")
        let watching = try Watching(["-f", file, "A.list[0]", "A.list", "x.y", "--json"], at: file, in: home)
        try home.prefs("set", "-f", file, "A.other", "unheard")
        try home.prefs("set", "-f", file, "A.list", "[1,2]")
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"A.list[0]","path":["A","list",0],"old":null,"new":1}"#)
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"A.list","path":["A","list"],"old":null,"new":[1,2]}"#)
        try home.prefs("set", "-f", file, "A.list", "[3,2]")
        // The places overlap, and the change is printed once.
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"A.list[0]","path":["A","list",0],"old":1,"new":3}"#)
        // A key with a dot is not split.
        try home.prefs("set", "-f", file, #"x\.y"#, "true")
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"x\\.y","path":["x.y"],"old":null,"new":true}"#)
    }

    @Test func aSuiteIsWatchedByItsName() throws {
        let home = try HarnessHome()
        try home.prefs("set", "-f", "org.example", "k", "1", "--force")
        let place = home.domainFile("org.example").path(percentEncoded: false)
        let watching = try Watching(["-f", "org.example"], at: place, in: home)
        try home.prefs("set", "-f", "org.example", "k", "2")
        #expect(try watching.line() == "TIME  k: 1 → 2")
        // The name of a domain may be a typing error; a word is a key.
        #expect(
            try home.prefs("watch", "-f", "org.exampel").errors.hasPrefix(
                "prefs: UserDefaults suite \"org.exampel\" not found: "))
        #expect(try home.prefs("watch", "nonsense") == .unknownKey("nonsense"))
    }

    /// An unreadable file is reported, as for the preferences of a class.
    @Test func aFileThatBecomesUnreadableIsReported() throws {
        let home = try HarnessHome()
        let file = home.path("p.plist")
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let child = try PipedChild("prefs", ["watch", "-f", file], home: home.folder, mergesErrors: true)
        #expect(try child.line() == "prefs: \(file): is a folder; the stored state is unchanged")
        #expect(try child.line() == "prefs: watching \(file); press Ctrl-C to stop")
        try FileManager.default.removeItem(atPath: file)
        try home.claim("p.plist")
        try home.prefs("set", "int", "1", "-f", file, "--root", "PrefsTestSet")
        let lines = try [child.line(), child.line()]
        #expect(lines[0] == "prefs: \(file) can be read again")
        #expect(lines[1].hasSuffix("  PrefsTestSet: (not set) → {\"Integer Value\":1}"))
        try home.edit(file, "<integer>3</integr>")
        let fault = "\(file): line 6, column 11: expected </integer>, found </integr>"
        #expect(try child.line() == "prefs: \(fault); the file is unchanged, and the last known state is read")
        try home.edit(file, "<integer>3</integer>")
        #expect(try child.line() == "prefs: \(file) can be read again")
        #expect(try child.line().hasSuffix("  PrefsTestSet.Integer Value: 1 → 3"))
    }

    @Test func aRemovalIsPrinted() throws {
        let home = try HarnessHome()
        let file = try home.write(["a": 1, "b": [1]] as [String: Any], to: "s.plist").path
        let watching = try Watching(["-f", file], at: file, in: home)
        unlink(file)
        #expect(try [watching.line(), watching.line()] == ["TIME  a: 1 → (not set)", "TIME  b: [1] → (not set)"])
        try home.write(["a": 2], to: "s.plist")
        #expect(try watching.line() == "TIME  a: (not set) → 2")
    }

    /// As when a release is replaced by the next one.
    @Test func aLinkThatMovesIsFollowed() throws {
        let home = try HarnessHome()
        try home.write(["a": 1], to: "one.plist")
        try home.write(["a": 2], to: "two.plist")
        let link = home.path("current.plist")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "one.plist")
        let watching = try Watching(["-f", link], at: link, in: home)
        try FileManager.default.createSymbolicLink(atPath: home.path("new"), withDestinationPath: "two.plist")
        try #require(rename(home.path("new"), link) == 0)
        #expect(try watching.line() == "TIME  a: 1 → 2")
        try home.prefs("set", "-f", link, "a", "3")
        #expect(try watching.line() == "TIME  a: 2 → 3")
    }
}
