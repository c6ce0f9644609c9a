import Foundation
import PersistentPreferences
import Testing

/// The sample of the README compiles, and its comments are true.
@Suite struct ReadmeTests {
    /// The sample, verbatim.
    private static func sample(print: @escaping (Any) -> Void) {
        final class EditorPrefs: Prefs, @unchecked Sendable {
            @Pref var fontSize = 12.0
            @Pref(.in(["light", "dark"])) var theme = "light"
        }
        let prefs = EditorPrefs()
        prefs.fontSize = 14  // stored when this line is done: on Linux in ~/.config/PROGRAM.plist
        print(EditorPrefs().values)  // ["fontSize": 14.0]; the default of theme is not stored
        prefs["theme"] = "pink"  // rejected: nothing changes
        print(prefs.lastError?.description ?? "ok")  // theme: must be one of light, dark
    }

    @Test func theSampleDoesWhatItSays() {
        var printed: [String] = []
        PersistentPrefs.withStore(InMemoryStore()) {
            for _ in 1...2 { Self.sample { printed.append("\($0)") } }
        }
        let once = [#"["fontSize": 14.0]"#, "theme: must be one of light, dark"]
        #expect(printed == once + once, "the second run prints what the first one did")
    }

    @Test func theSampleIsInTheReadme() throws {
        let here = URL(filePath: #filePath)
        let readme = here.deletingLastPathComponent().appending(path: "../../../README.md").standardized
        let code = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```")[1]
        let lines = code.split(separator: "\n").dropFirst(3).map { String(repeating: " ", count: 8) + $0 }
        #expect(lines.count == 9)
        #expect(try String(contentsOf: here, encoding: .utf8).contains(lines.joined(separator: "\n")))
    }
}
