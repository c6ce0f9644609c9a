import Foundation
import PersistentPreferences
import Testing

/// The sample of the README compiles, and its comments are true.
@Suite struct ReadmeTests {
    /// The sample, verbatim.
    private static func sample(print: @escaping (Any) -> Void) {
        final class EditorPrefs: Prefs, @unchecked Sendable {
            @Pref var fontSize = 12.0
            @Pref(in: ["light", "dark"]) var theme = "light"
            @Pref var recent: [URL] = []
        }
        let prefs = EditorPrefs()
        prefs.fontSize = 14  // stored when this line is done
        print(EditorPrefs().fontSize)  // 14.0: every instance, thread and process reads the new value
        prefs.$fontSize.modify { $0 += 2 }  // exact, even while other threads write it
        prefs.theme = "pink"  // rejected: nothing changes
        print(prefs.lastError?.description ?? "ok")  // theme: must be one of light, dark
    }

    @Test func theSampleDoesWhatItSays() {
        var printed: [String] = []
        PersistentPrefs.withStore(InMemoryStore()) { Self.sample { printed.append("\($0)") } }
        #expect(printed == ["14.0", "theme: must be one of light, dark"])
    }

    @Test func theSampleIsInTheReadme() throws {
        let here = URL(filePath: #filePath)
        let readme = here.deletingLastPathComponent().appending(path: "../../../README.md").standardized
        let code = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```")[1]
        let lines = code.split(separator: "\n").dropFirst(3).map { String(repeating: " ", count: 8) + $0 }
        #expect(lines.count == 11)
        #expect(try String(contentsOf: here, encoding: .utf8).contains(lines.joined(separator: "\n")))
    }
}
