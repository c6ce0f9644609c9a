import Foundation
import PersistentPreferences
import Testing

/// The first two samples of the README compile, and their comments are true. The README stays short.
@Suite struct ReadmeTests {
    /// The samples, verbatim, but the last line of the second one.
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

        prefs.$fontSize.modify { $0 += 1 }  // reads and writes in one step
        prefs.update {  // several changes: all of them are stored, or none
            prefs.fontSize = 13
            prefs.theme = "dark"
        }
        prefs.$theme.reset()  // removes the stored value: the property is its default again
        print(prefs.values)  // ["fontSize": 13.0]
    }

    @Test func theSampleDoesWhatItSays() {
        var printed: [String] = []
        PersistentPrefs.withStore(.memory()) {
            for _ in 1...2 { Self.sample { printed.append("\($0)") } }
        }
        let once = [#"["fontSize": 14.0]"#, "theme: must be one of light, dark", #"["fontSize": 13.0]"#]
        #expect(printed == once + once, "the second run prints what the first one did")
    }

    private static func page(_ name: String) throws -> String {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        return try String(contentsOf: package.appending(path: name), encoding: .utf8)
    }

    @Test func theSamplesAreInTheReadme() throws {
        let parts = try Self.page("README.md").components(separatedBy: "```")
        let code = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        // Without the language and the imports, and without the language and the last line.
        let samples = [
            parts[1].split(separator: "\n").dropFirst(3), parts[3].split(separator: "\n").dropFirst().dropLast(),
        ]
        #expect(samples.map(\.count) == [9, 7])
        for sample in samples {
            #expect(code.contains(sample.map { String(repeating: " ", count: 8) + $0 }.joined(separator: "\n")))
        }
    }

    /// A newcomer reads the README before installing anything, and CONTRIBUTING before a first change. Details belong to the articles.
    @Test(arguments: [("README.md", 140, 1_000), ("CONTRIBUTING.md", 140, 1_200)])
    func thePageIsShort(_ name: String, _ lines: Int, _ words: Int) throws {
        let text = try Self.page(name)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 <= lines)
        #expect(text.split(whereSeparator: \.isWhitespace).count <= words)
    }
}
