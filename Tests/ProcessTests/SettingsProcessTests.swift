import Foundation
import TestSupport
import Testing

/// Settings files in their default place, saved by processes that are killed, or that save at the same time.
@Suite(.waits) final class SettingsProcessTests: ProbeSuite {
    @Test func aKillLeavesOneSaveWhole() throws {
        var first = 1
        for kill in 0..<12 {
            let writer = try piped("save-settings", "\(first)")
            var acknowledged = 0
            for _ in 0...(kill % 4) { acknowledged = try #require(Int(writer.line())) }
            writer.kill()
            acknowledged = writer.linesSoFar().last.flatMap(Int.init) ?? acknowledged
            let words = try probe("load-settings").output.split(separator: " ")
            let number = try #require(words.first.flatMap { Int($0) })
            #expect((acknowledged...(acknowledged + 1)).contains(number), "at most one save more")
            #expect(words.last == "true\n")
            first = number + 1
        }
        // A load changes nothing. The next writer removes the file that the last kill left.
        _ = try probe("save-settings", "\(first)", "1")
        let files = try names(in: ".config/Probe")
        #expect(files.filter { !$0.hasPrefix(".") } == ["ProbeSettings.plist"])
        #expect(!files.contains { $0.hasSuffix(".tmp") })
    }

    @Test func aFailureIsOneLineOnStandardError() throws {
        let file = home.file(".config/Probe/ProbeSettings.plist")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try writePropertyList(["number": "secret"], to: file)
        let result = try probe("load-settings-or-fail")
        #expect(result.output == "false\n" && result.code == 0)
        #expect(result.errors == "\(file.path): number: expected Int, found a string; the stored state is unchanged\n")
        let homeless = try Child("Probe", ["load-settings-or-fail"], environment: [:]).wait()
        #expect(homeless.output == "false\n")
        #expect(homeless.errors == "no home folder: HOME is not set, or empty; the stored state is unchanged\n")
    }

    @Test func twoProcessesSaveWholeFiles() throws {
        let writers = try [1_000, 5_000].map { try Child("Probe", ["save-settings", "\($0)", "60"], home: home) }
        for _ in 0..<10 {
            let output = try probe("load-settings").output
            #expect(output.hasSuffix("true\n"), "\(output)")
        }
        for (writer, first) in zip(writers, [1_000, 5_000]) {
            #expect(try writer.wait().output == (first..<(first + 60)).map { "\($0)\n" }.joined())
        }
        let last = try probe("load-settings").output
        #expect(last == "1059 true\n" || last == "5059 true\n")
    }

    @Test func itsPlaceIsTheConfigurationFolder() throws {
        let environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.path + "/xdg"]
        #expect(try Child("Probe", ["save-settings", "7", "1"], environment: environment).wait().output == "7\n")
        let saved = home.file("xdg/Probe/ProbeSettings.plist").path
        #expect(try FileManager.default.attributesOfItem(atPath: saved)[.posixPermissions] as? Int == 0o600)
    }
}
