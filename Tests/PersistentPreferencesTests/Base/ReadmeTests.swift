import Foundation
import PersistentPreferences
import Testing

/// The sample of the README compiles, and does what its comments say.
@Suite struct ReadmeTests {
    /// The sample, verbatim.
    private static func sample(print: @escaping (Any) -> Void) {
        final class EditorPrefs: Prefs, @unchecked Sendable {
            @Pref var fontSize = 12.0
            @Pref(in: ["light", "dark"]) var theme = "light"
            @Pref var recent: [URL] = []
        }
        let prefs = EditorPrefs()
        prefs.fontSize += 2  // on disk when the line is done
        print(EditorPrefs().fontSize)  // 14.0: another instance, thread or process agrees at once
        prefs.theme = "pink"  // refused: nothing changes
        print(prefs.lastError?.description ?? "ok")  // theme: must be one of light, dark
        prefs["recent"] = [{ print("hi") }]  // refused, too: nothing crashes
        print(prefs.lastError?.description ?? "ok")  // recent[0]: a closure cannot be stored in a property list
    }

    @Test func theSampleDoesWhatItSays() {
        var printed: [String] = []
        PersistentPrefs.withStore(InMemoryStore()) { Self.sample { printed.append("\($0)") } }
        #expect(
            printed == [
                "14.0", "theme: must be one of light, dark",
                "recent[0]: a closure cannot be stored in a property list",
            ])
    }

    @Test func theSampleStandsInTheReadme() throws {
        let here = URL(filePath: #filePath)
        let readme = here.deletingLastPathComponent().appending(path: "../../../README.md").standardized
        let code = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```")[1]
        let lines = code.split(separator: "\n").dropFirst(3).map { String(repeating: " ", count: 8) + $0 }
        #expect(lines.count == 12)
        #expect(try String(contentsOf: here, encoding: .utf8).contains(lines.joined(separator: "\n")))
    }
}
