import Foundation
import TestSupport
import Testing

/// Contract 4 in a program whose locale has a decimal comma. The locale is built by the test, from the sources that
/// Debian's package `locales` has.
@Suite(.waits) struct LocaleTests {
    private static let canBuild = Hazard.canRun(
        "locale", if: tool != nil && FileManager.default.fileExists(atPath: "/usr/share/i18n/locales/de_DE"),
        else: "localedef or its sources are not installed")

    private static let tool = Child.installed("localedef")

    private static let theirs = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>ProbePrefs</key><dict><key>count</key><real>0.25</real></dict>
        <key>theirs</key><real>-1.5e-3</real>
        </dict></plist>
        """

    /// A child with its own home and the locale of the test.
    private func run(_ arguments: [String], in home: TemporaryFolder, _ locales: TemporaryFolder) throws -> Child.Result
    {
        try Child(
            "Probe", arguments, environment: ["HOME": home.path, "LOCPATH": locales.path, "LC_ALL": "de_DE.UTF-8"]
        ).wait()
    }

    /// One test for both directions, because building the locale takes most of the time. It takes a second of processor time, so this is
    /// a test of the long form.
    @Test(.enabled(if: canBuild && Hazard.isLong)) func aDecimalCommaIsInNoFileOfOurs() throws {
        let locales = try TemporaryFolder()
        let built = try Child(
            URL(filePath: Self.tool ?? ""), ["-i", "de_DE", "-f", "UTF-8", locales.path + "/de_DE.UTF-8"],
            environment: [:]
        ).wait()
        try #require(FileManager.default.fileExists(atPath: locales.path + "/de_DE.UTF-8"), "\(built.errors)")
        try numbersAreTheSameForEverybody(locales)
        try whatFoundationWritesThereIsRead(locales)
    }

    private func numbersAreTheSameForEverybody(_ locales: TemporaryFolder) throws {
        let home = try TemporaryFolder()
        let config = home.file(".config")
        try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
        try Data(Self.theirs.utf8).write(to: home.file("theirs.plist"))
        let domains = ["Probe", "probe.suite", "probe.group", "probe.key", "probe.injected"].map {
            config.appending(path: "\($0).plist")
        }
        for domain in domains { try Data(Self.theirs.utf8).write(to: domain) }
        try Data(#"{"count": 0.25, "theirs": -1.5e-3}"#.utf8).write(to: home.file("theirs.json"))
        let result = try run(["locale", home.path], in: home, locales)
        #expect(
            result.output == """
                ours: 0.1 ok
                theirs: 0.25 ok
                written: ok
                domain: 0.25 ok
                domain written: 0.25 ok
                export: {"count":0.25,"text":"y"}
                suite: 0.25 0.25 ok
                json: 0.25 0.25 ok
                key: -0.0015 -0.0015 ok
                group: 0.25 0.25 ok
                key of an object: -0.0015 -0.0015 ok
                object: 0.25 0.25 ok

                """, "\(result.errors)")
        // Read in this process, which has another locale.
        #expect(try propertyList(at: home.file("ours.plist"))["ProbePrefs"] as? [String: Double] == ["count": 0.1])
        #expect(try String(contentsOf: home.file("ours.plist"), encoding: .utf8).contains("<real>0.1</real>"))
        for file in domains + [home.file("theirs.plist")] {
            let list = try propertyList(at: file)
            #expect((list["ProbePrefs"] as? [String: Any])?["count"] as? Double == 0.25)
            #expect(list["theirs"] as? Double == -0.0015)
        }
        for name in ["probe.suite", "probe.group", "probe.injected"] {
            let list = try propertyList(at: config.appending(path: "\(name).plist"))
            #expect((list["ProbePrefs"] as? [String: Any])?["text"] as? String == "x")
        }
        #expect(try propertyList(at: config.appending(path: "probe.key.plist"))["text"] as? String == "x")
        #expect(
            try String(contentsOf: home.file("theirs.json"), encoding: .utf8)
                == #"{"count": 0.25, "text": "x", "theirs": -1.5e-3}"#)
        #expect(try propertyList(at: config.appending(path: "Probe.plist"))["other"] as? String == "mine")
        let names = try [home.path, config.path].flatMap(FileManager.default.contentsOfDirectory)
        #expect(!names.contains { $0.contains(".corrupt-") })
    }

    /// This package reads what Foundation writes in that locale. Other readers cannot.
    private func whatFoundationWritesThereIsRead(_ locales: TemporaryFolder) throws {
        let home = try TemporaryFolder()
        _ = try run(["locale-foundation"], in: home, locales)
        let file = home.file(".config/Probe.plist")
        #expect(try String(contentsOf: file, encoding: .utf8).contains("<real>0,1000000000000000"))
        let result = try Child("Probe", ["report-count"], home: home).wait()
        #expect(result.output == "0.1 ok\n", "\(result.errors)")
    }
}
