import Foundation
import TestSupport
import Testing

/// `prefs watch` prints the changes of other processes until a signal.
@Suite struct HarnessWatchTests {
    /// A running `prefs watch`.
    private struct Watching {
        let child: PipedChild

        init(_ arguments: [String], at target: String, in home: HarnessHome) throws {
            child = try PipedChild("prefs", ["watch"] + arguments, home: home.folder, mergesErrors: true)
            #expect(try child.line() == "prefs: watching \(target); press Ctrl-C to stop")
        }

        /// Returns the next line. Checks its time, and replaces it by `TIME`.
        func line() throws -> String {
            let line = try child.line()
            let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z/
            try #require(line.contains(form))
            return line.replacing(form, with: "TIME", maxReplacements: 1)
        }
    }

    private func path(_ home: HarnessHome) -> String {
        home.suiteFile.path(percentEncoded: false)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func watchPrintsEveryChangeUntilASignal(signal: Int32) throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let watching = try Watching([], at: path(home), in: home)
        try home.prefs("set", "int", "5")
        #expect(try watching.line() == "TIME  Integer Value: 10 → 5")
        try home.prefs("set", "int", "5")
        try home.prefs("set", "string", "two\nlines")
        #expect(try watching.line() == #"TIME  String Value: Sample String → two\nlines"#)
        try home.prefs("unset", "int")
        #expect(try watching.line() == "TIME  Integer Value: 5 → (not set)")
        try home.prefs("unset", "--all")
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
        let home = try HarnessHome()
        let file = home.path("p.plist")
        let watching = try Watching(
            ["int", "Date Value", "--json", "-f", file, "--root", "PrefsTestSet"], at: file, in: home)
        try home.prefs("set", "string", "unheard", "-f", file, "--root", "PrefsTestSet")
        try home.prefs("set", "date", "2026-11-21T00:00:00Z", "-f", file, "--root", "PrefsTestSet")
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"Date Value","path":["Date Value"],"old":null,"new":{"$date":"2026-11-21T00:00:00Z"}}"#
        )
        try home.prefs("set", "int", "-1", "-f", file, "--root", "PrefsTestSet")
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"Integer Value","path":["Integer Value"],"old":null,"new":-1}"#)
        try home.prefs("unset", "--all", "-f", file, "--root", "PrefsTestSet")
        // In the order of the arguments.
        #expect(
            try watching.line()
                == #"{"time":"TIME","key":"Integer Value","path":["Integer Value"],"old":-1,"new":null}"#)
        #expect(
            try watching.line().contains(#""path":["Date Value"],"old":{"$date":"2026-11-21T00:00:00Z"},"new":null"#))
    }

    @Test func watchReportsChangesByOtherPrograms() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "1")
        let watching = try Watching(["int"], at: path(home), in: home)
        // Replaces the file, as plutil and editors do.
        let edited: [String: Any] = ["PrefsTestSet": ["Integer Value": 2]]
        let bytes = try PropertyListSerialization.data(fromPropertyList: edited, format: .xml, options: 0)
        try bytes.write(to: home.suiteFile, options: .atomic)
        #expect(try watching.line() == "TIME  Integer Value: 1 → 2")
        // Overwrites the file in place, as UserDefaults does.
        let handle = try FileHandle(forWritingTo: home.suiteFile)
        let later: [String: Any] = ["PrefsTestSet": ["Integer Value": 3]]
        let more = try PropertyListSerialization.data(fromPropertyList: later, format: .xml, options: 0)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: more)
        try handle.close()
        #expect(try watching.line() == "TIME  Integer Value: 2 → 3")
    }

    @Test func watchRejectsUnknownKeysAndBadNames() throws {
        let home = try HarnessHome()
        #expect(try home.prefs("watch", "nonsense") == .unknownKey("nonsense"))
        #expect(try home.prefs("watch", "--root", "") == .failure("\"\" is not a valid root key: it is empty"))
    }

    @Test func anUnreadableFileIsReportedAndWatched() throws {
        let home = try HarnessHome()
        let file = home.path("p.plist")
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let child = try PipedChild(
            "prefs", ["watch", "-f", file, "--root", "PrefsTestSet"], home: home.folder, mergesErrors: true)
        #expect(try child.line() == "prefs: \(file): is a folder; the stored state is unchanged")
        #expect(try child.line() == "prefs: watching \(file); press Ctrl-C to stop")
        try FileManager.default.removeItem(atPath: file)
        try home.prefs("set", "int", "1", "-f", file, "--root", "PrefsTestSet")
        let lines = try [child.line(), child.line()]
        #expect(lines.contains("prefs: \(file) can be read again"))
        #expect(lines.contains { $0.hasSuffix("  Integer Value: (not set) → 1") })
    }

    /// A person makes a typo in the file and corrects it, both in place.
    @Test func watchReportsATypoAndItsCorrection() throws {
        let home = try HarnessHome()
        let file = home.path("p.plist")
        try home.claim("p.plist")
        try home.edit(file, "<integer>1</integer>")
        #expect(try home.prefs("set", "int", "2", "-f", file, "--root", "PrefsTestSet") == Printed())
        let child = try PipedChild(
            "prefs", ["watch", "-f", file, "--root", "PrefsTestSet"], home: home.folder, mergesErrors: true)
        #expect(try child.line() == "prefs: watching \(file); press Ctrl-C to stop")
        try home.edit(file, "<integer>3</integr>")
        let fault = "\(file): line 6, column 11: expected </integer>, found </integr>"
        #expect(try child.line() == "prefs: \(fault); the file is unchanged, and the last known state is read")
        #expect(try Data(contentsOf: URL(filePath: file)).count > 0)
        try home.edit(file, "<integer>3</integer>")
        let lines = try [child.line(), child.line()]
        #expect(lines.contains("prefs: \(file) can be read again"))
        #expect(lines.contains { $0.hasSuffix("  Integer Value: 2 → 3") })
        #expect(
            try home.folder.names().filter { $0.contains("p.plist") } == [
                ".p.plist.lastgood", ".p.plist.lock", "p.plist",
            ])
    }

    @Test func watchEndsWhenItsReaderIsGone() throws {
        let home = try HarnessHome()
        let watching = try Watching([], at: path(home), in: home)
        try watching.child.stopReading()
        try home.prefs("set", "int", "1")
        #expect(try watching.child.exitCode() == 0)
    }

    /// The change does not fit into the pipe, which nobody reads.
    @Test func watchEndsWhileItsReaderIsBlocked() throws {
        let home = try HarnessHome()
        let watching = try Watching([], at: path(home), in: home)
        try home.prefs("set", "string", String(repeating: "x", count: 100_000))
        #expect(watching.child.isWriting())
        watching.child.send(SIGINT)
        #expect(try watching.child.exitCode() == 0)
    }
}
