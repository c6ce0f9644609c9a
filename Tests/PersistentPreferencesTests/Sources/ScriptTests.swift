import Foundation
import TestSupport
import Testing

/// The scripts share one style, and reject unknown arguments before they do anything.
@Suite struct ScriptTests {
    private static let folder = DocumentationPage.package.appending(path: "Scripts")
    private static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".sh") }.sorted()

    /// The program that `bench.sh` builds checks its arguments.
    private static let unbuilt = names.filter { $0 != "bench.sh" }

    @Test(arguments: names)
    func beginsAsAllOfThemDo(_ name: String) throws {
        let script = Self.folder.appending(path: name)
        let lines = try String(contentsOf: script, encoding: .utf8).components(separatedBy: "\n")
        let code = Array(lines.drop { $0.hasPrefix("#") })
        #expect(lines[0] == "#!/usr/bin/env bash")
        #expect(lines[1].hasPrefix("# "))
        #expect(lines.filter { $0.hasPrefix("# usage: Scripts/\(name)") }.count == 1)
        #expect(code.prefix(2) == ["set -euo pipefail", #"cd "$(dirname "$0")/..""#])
        #expect(FileManager.default.isExecutableFile(atPath: script.path))
    }

    @Test(arguments: unbuilt)
    func unknownArgumentsAreRejected(_ name: String) throws {
        let script = Self.folder.appending(path: name)
        let result = try Child(script, ["--nonsense", "2", "3"], environment: [:]).wait(limit: .seconds(20))
        #expect(result.code == 64)
        #expect(result.errors.hasPrefix("usage: Scripts/\(name)"))
        #expect(result.output.isEmpty)
    }

    @Test func theyAreFound() {
        #expect(Self.names.count > 10)
    }
}
