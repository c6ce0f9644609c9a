import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// `prefs watch` prints the changes of other processes until a signal: of keys, or of the places of any file or suite.
@Suite(.waits) final class HarnessWatchTests: HarnessSuite {
    private var path: String { home.suiteFile.path(percentEncoded: false) }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func watchPrintsEveryChangeUntilASignal(signal: Int32) throws {
        try home.storeSampleValues()
        let watching = try Watching([], at: path, in: home)
        try prefs("set", "int", "5")
        #expect(try watching.line() == "TIME  Integer Value: 10 → 5")
        try prefs("set", "int", "5")
        try prefs("set", "string", "two\nlines")
        #expect(try watching.line() == #"TIME  String Value: Sample String → two\nlines"#)
        try prefs("unset", "int")
        #expect(try watching.line() == "TIME  Integer Value: 5 → (not set)")
        try prefs("unset", "--all")
        let lines = try (0..<4).map { _ in try watching.line() }
        #expect(
            lines == [
                #"TIME  Array Value: ["One","Two","Three","Four","Five"] → (not set)"#,
                "TIME  Date Value: 2001-01-01T00:00:00Z → (not set)",
                #"TIME  Dictionary Value: {"One":"First","Three":"Third","Two":"Second"} → (not set)"#,
                #"TIME  String Value: two\nlines → (not set)"#,
            ])
        watching.child.send(signal)
        #expect(try watching.child.exitCode() == 0)
        #expect(watching.child.linesSoFar().isEmpty)
    }

    @Test func watchPrintsSelectedKeysAsJSON() throws {
        let file = home.path("p.plist")
        let watching = try Watching(
            ["int", "Date Value", "--json", "-f", file, "--root", "PrefsTestSet"], at: file, in: home)
        try prefs("set", "string", "unheard", in: file)
        try prefs("set", "date=2026-11-21T00:00:00Z", "int=-1", in: file)
        func line(_ key: String, _ new: String) -> String {
            #"{"time":"TIME","key":"\#(key)","path":["\#(key)"],"old":null,"new":\#(new)}"#
        }
        // In the order of the arguments.
        #expect(try watching.line() == line("Integer Value", "-1"))
        #expect(try watching.line() == line("Date Value", #"{"$date":"2026-11-21T00:00:00Z"}"#))
    }

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

    /// A folder is in the place of the file. Then a person makes a typo in the file and corrects it, both in place.
    @Test(arguments: [
        ([], #"PrefsTestSet: (not set) → {"Integer Value":1}"#, "PrefsTestSet.Integer Value: 1 → 3"),
        (["--root", "PrefsTestSet"], "Integer Value: (not set) → 1", "Integer Value: 1 → 3"),
    ])
    func anUnreadableFileIsReportedAndWatched(root: [String], first: String, second: String) throws {
        let file = home.path("p.plist")
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let child = try Watching(
            ["-f", file] + root, at: file, in: home, after: ["\(file): is a folder; the stored state is unchanged"]
        ).child
        try FileManager.default.removeItem(atPath: file)
        try home.claim("p.plist")
        try prefs("set", "int", "1", in: file)
        let isReadable = "prefs: \(file) can be read again"
        let lines = try [child.line(), child.line()]
        #expect(lines.contains(isReadable) && lines.contains { $0.hasSuffix("  \(first)") }, "\(lines)")
        // The element is the value at line 6.
        func edit(_ element: String) throws {
            let text = "<plist version=\"1.0\">\n<dict>\n<key>PrefsTestSet</key>\n<dict>\n<key>Integer Value</key>\n"
            try Data("\(text)\(element)\n</dict>\n</dict>\n</plist>\n".utf8).write(to: URL(filePath: file))
        }
        try edit("<integer>3</integr>")
        let fault = "\(file): line 6, column 11: expected </integer>, found </integr>"
        #expect(try child.line() == "prefs: \(fault); the file is unchanged, and the last known state is read")
        try edit("<integer>3</integer>")
        let more = try [child.line(), child.line()]
        #expect(more.contains(isReadable) && more.contains { $0.hasSuffix("  \(second)") }, "\(more)")
        // Without a root, the order is exact.
        if root.isEmpty { #expect([lines[0], more[0]] == [isReadable, isReadable]) }
        let names = [".p.plist.lastgood", ".p.plist.lock", "p.plist"]
        #expect(try home.folder.names().filter { $0.contains("p.plist") } == names)
    }

    /// As `nohup` starts it.
    @Test func anIgnoredSignalStaysIgnored() throws {
        let printed = try home.bash(
            """
            trap '' HUP; prefs watch >out 2>errors & watch=$!
            until grep -qs watching errors; do kill -0 $watch || exit 9; done
            kill -HUP $watch; prefs set int 5; until grep -qs 5 out; do kill -0 $watch || exit 9; done
            kill -TERM $watch; wait $watch; echo $?
            """)
        #expect(printed == Printed("0\n"))
    }

    @Test(.needs("watch: a full output", access("/dev/full", W_OK) == 0, else: "there is no /dev/full"))
    func watchTellsThatItsOutputCannotBeWritten() throws {
        let printed = try home.bash(
            """
            prefs watch >/dev/full 2>errors & watch=$!
            until grep -qs watching errors; do kill -0 $watch || exit 9; done
            prefs set int 5; wait $watch; echo $?; tail -n 1 errors
            """)
        #expect(printed == Printed("1\nprefs: standard output: No space left on device\n"))
    }

    @Test func watchEndsWhenItsReaderIsGone() throws {
        let watching = try Watching([], at: path, in: home)
        try watching.child.stopReading()
        try prefs("set", "int", "1")
        #expect(try watching.child.exitCode() == 0)
    }

    /// The change does not fit into the pipe, which nobody reads.
    @Test func watchEndsWhileItsReaderIsBlocked() throws {
        let watching = try Watching([], at: path, in: home)
        try prefs("set", "string", String(repeating: "x", count: 100_000))
        #expect(watching.child.isWriting())
        watching.child.send(SIGINT)
        #expect(try watching.child.exitCode() == 0)
    }

    /// As when a person presses Ctrl-C as soon as `prefs watch` says that it watches.
    @Test func aSignalRightAfterTheStartIsReceived() async {
        await #expect(processExitsWith: .success) {
            let handled = DispatchSemaphore(value: 0)
            let signals = TerminationSignals { handled.signal() }
            kill(getpid(), SIGTERM)
            exit(
                handled.wait(timeout: .now() + .seconds(Patience.seconds)) == .success && signals.received == SIGTERM
                    ? 0 : 1)
        }
    }

    @Test func aMistypedKeyBehindAnotherKeyIsRejected() throws {
        #expect(try prefs("watch", "int", "sting") == .failure("no key `sting`; did you mean `string`?"))
    }

    // MARK: - Any file or suite

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
}

/// A running `prefs watch`, whose standard error is read with its output.
private struct Watching {
    let child: PipedChild

    /// - Parameters:
    ///   - place: the place that its first line names.
    ///   - messages: the messages before that line.
    init(_ arguments: [String], at place: String, in home: HarnessHome, after messages: [String] = []) throws {
        child = try PipedChild("prefs", ["watch"] + arguments, home: home.folder, mergesErrors: true)
        for message in messages + ["watching \(place); press Ctrl-C to stop"] {
            #expect(try child.line() == "prefs: " + message)
        }
    }

    /// Returns the next line. Checks its time, and replaces it by `TIME`.
    func line() throws -> String {
        let line = try child.line()
        let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z/
        try #require(line.contains(form))
        return line.replacing(form, with: "TIME", maxReplacements: 1)
    }
}
