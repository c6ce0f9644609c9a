import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import PrefsLayers

/// The text of `--help`.
@Suite struct UsageTests {
    enum Theme: String, Codable, CaseIterable { case light, dark }
    struct Server: Codable, Equatable { var host = "h" }

    class BasePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.in(8...72), .help("In points.")) var fontSize = 12
    }

    final class ToolPrefs: BasePrefs, @unchecked Sendable {
        @Pref(.help("Whether long lines are wrapped at the width of the window, or shown with a bar below.")) var wrap =
            true
        @Pref var theme = Theme.dark
        @Pref(.help("What\n\tto do.")) var tags: [String] = []
        @Pref var limits = ["a": 1]
        @Pref var name = ""
        @Pref var since: Date? = nil
        @Pref(.sensitive, .in(["hunter2", "x"])) var word = "hunter2"
        @Pref(.sensitive, .help("For the server.")) var token = "hunter3"
        @Pref var server = Server()
        @Pref("größe") var height = 1.5
        @Pref("名前") var title = "t"
        @Pref(.in(["CHF", "EUR"])) var currency: String? = "EUR"
    }

    private func text(above: PrefsLayer...) -> String {
        PrefsLayer.usage(of: ToolPrefs(store: LayeredStore(InMemoryStore(), above: above)))
    }

    @Test func aParagraphHasAllThatIsDeclared() {
        let usage = text(
            above: .arguments(["p"], short: ["f": "fontSize", "w": "wrap", "x": "none", "t": "tags", "T": "tags"]),
            .environment(prefix: "TOOL_", in: [:]))
        let expected = """
              -f, --font-size <Int>     In points. (in 8...72; default 12; TOOL_FONT_SIZE)
              -w, --[no-]wrap           Whether long lines are wrapped at the width of the
                                        window, or shown with a bar below. (default true;
                                        TOOL_WRAP)
                  --theme <Theme>       (one of light, dark; default dark; TOOL_THEME)
              -T, -t, --tags <String>   What to do. (may be repeated; TOOL_TAGS)
                  --limits <[String: Int]>
                                        (default {"a":1}; TOOL_LIMITS)
                  --name <String>       (default ""; TOOL_NAME)
                  --since <Date>        (TOOL_SINCE)
                  --word <String>       (one of hunter2, x; TOOL_WORD)
                  --token <String>      For the server. (TOOL_TOKEN)
                  --server <Server>     (default {"host":"h"}; TOOL_SERVER)
                  --gr-e <Double>       (default 1.5; TOOL_GR_E)
              -名前 <String>              (default "t"; TOOL___)
                  --currency <String>   (one of CHF, EUR; default "EUR"; TOOL_CURRENCY)
            """
        #expect(usage == expected)
        #expect(usage.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    /// The class of the article, whose output stands there.
    @Test func theArticleHasTheOutputOfItsClass() throws {
        final class PagerPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref(.in(20...500), .help("The width of a page.")) var columns = 80
            @Pref(.help("Cut long lines in place of wrapping them.")) var cut = false
            @Pref(.help("Words to mark.")) var marked: [String] = []
        }
        let pager = PagerPrefs(
            store: LayeredStore(
                InMemoryStore(),
                above: [
                    .arguments(["p"], short: ["c": "columns", "m": "marked"]), .environment(prefix: "PAGER_", in: [:]),
                ]))
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/PersistentPreferences/PersistentPreferences.docc/Layers.md")
        let article = try String(contentsOf: page.standardized, encoding: .utf8)
        #expect(article.contains("```\n\(PrefsLayer.usage(of: pager))\n```\n"))
    }

    @Test func withoutArgumentsTheVariableComesFirst() {
        let usage = text(above: .environment(prefix: "", in: [:]))
        #expect(usage.hasPrefix("  FONT_SIZE  In points. (in 8...72; default 12)\n  WRAP       Whether long lines"))
        #expect(!usage.contains("--"))
        #expect(text(above: .values([:])) == "")
        #expect(PrefsLayer.usage(of: ToolPrefs(store: InMemoryStore())) == "")
    }

    @Test func severalClassesFollowEachOther() {
        final class Other: PersistentPrefs, @unchecked Sendable { @Pref var level = 3 }
        let store = LayeredStore(InMemoryStore(), above: [.arguments(["p"])])
        let usage = PrefsLayer.usage(of: BasePrefs(store: store), Other(store: store))
        #expect(
            usage == """
                      --font-size <Int>  In points. (in 8...72; default 12)
                      --level <Int>      (default 3)
                """)
    }

    /// The value of a secret that stands in a folder is no default, and the default of its property may be one, too.
    @Test func theDefaultOfAKeyInAFolderOfSecretsIsNotShown() throws {
        let folder = try TemporaryFolder()
        try Data("5".utf8).write(to: folder.file("LEVEL"))
        final class Leveled: PersistentPrefs, @unchecked Sendable { @Pref var level = 3 }
        let store = LayeredStore(InMemoryStore(), above: [.arguments(["p"]), .folder(folder.url)])
        #expect(PrefsLayer.usage(of: Leveled(store: store)) == "      --level <Int>")
    }

    /// A word that is longer than the line stands alone.
    @Test func longWordsAreKeptWhole() {
        final class Long: PersistentPrefs, @unchecked Sendable {
            @Pref(.help("See https://example.org/\(String(repeating: "a", count: 90)) for it.")) var level = 3
        }
        let usage = PrefsLayer.usage(of: Long(store: LayeredStore(InMemoryStore(), above: [.arguments(["p"])])))
        let lines = usage.split(separator: "\n")
        #expect(
            lines.count == 3 && lines[0] == "      --level <Int>  See"
                && lines[2] == "                     for it. (default 3)")
        #expect(lines[1].hasSuffix("aaa") && lines[1].count == 21 + 20 + 90)
    }
}
