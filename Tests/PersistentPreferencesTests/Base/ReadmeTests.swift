import Foundation
import PersistentPreferences
import Testing

/// The sample of the README compiles, and does what its comments say.
@Suite struct ReadmeTests {
    /// The sample, verbatim.
    private static func sample(print: @escaping (Any) -> Void) {
        final class EditorPrefs: PersistentPrefs, @unchecked Sendable {
            override var keys: [String] { ["fontSize", "recent"] }
            var fontSize: Double {
                get { self["fontSize"] as? Double ?? 12 }
                set { self["fontSize"] = newValue }
            }
        }
        let prefs = EditorPrefs()
        prefs.fontSize = 14  // on disk when the line is done
        print(EditorPrefs().fontSize)  // 14.0: another instance, thread or process agrees at once
        prefs["recent"] = ["notes": { print("hi") }]  // refused: nothing changes, nothing crashes
        print(prefs.lastError?.description ?? "ok")  // recent.notes: a closure cannot be stored in a property list
    }

    @Test func theSampleDoesWhatItSays() {
        var printed: [String] = []
        PersistentPrefs.withStore(InMemoryStore()) { Self.sample { printed.append("\($0)") } }
        #expect(printed == ["14.0", "recent.notes: a closure cannot be stored in a property list"])
    }

    @Test func theSampleStandsInTheReadme() throws {
        let here = URL(filePath: #filePath)
        let readme = here.deletingLastPathComponent().appending(path: "../../../README.md").standardized
        let code = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```")[1]
        let lines = code.split(separator: "\n").dropFirst(2).map { String(repeating: " ", count: 8) + $0 }
        #expect(lines.count == 12)
        #expect(try String(contentsOf: here, encoding: .utf8).contains(lines.joined(separator: "\n")))
    }
}
