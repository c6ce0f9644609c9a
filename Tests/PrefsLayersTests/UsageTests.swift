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
        PrefsLayer.usage(of: ToolPrefs(store: .layered(.memory(), above: above)))
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
            store: .layered(
                PrefsStore.memory(),
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
        #expect(PrefsLayer.usage(of: ToolPrefs(store: .memory())) == "")
    }

    @Test func severalClassesFollowEachOther() {
        final class Other: PersistentPrefs, @unchecked Sendable { @Pref var level = 3 }
        let store = PrefsStore.layered(.memory(), above: [.arguments(["p"])])
        let usage = PrefsLayer.usage(of: BasePrefs(store: store), Other(store: store))
        #expect(
            usage == """
                      --font-size <Int>  In points. (in 8...72; default 12)
                      --level <Int>      (default 3)
                """)
    }

    /// The default of such a property may be a secret, too.
    @Test func theDefaultOfAKeyInAFolderOfSecretsIsNotShown() throws {
        let folder = try TemporaryFolder()
        try Data("5".utf8).write(to: folder.file("LEVEL"))
        final class Leveled: PersistentPrefs, @unchecked Sendable { @Pref var level = 3 }
        let store = PrefsStore.layered(.memory(), above: [.arguments(["p"]), .folder(folder.url)])
        #expect(PrefsLayer.usage(of: Leveled(store: store)) == "      --level <Int>")
    }

    /// A word that is longer than the line stands alone.
    /// A program with sixty options.
    final class SixtyPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.help("The number of thing 1.")) var thing1 = 1
        @Pref(.help("The number of thing 2.")) var thing2 = 2
        @Pref(.help("The number of thing 3.")) var thing3 = 3
        @Pref(.help("The number of thing 4.")) var thing4 = 4
        @Pref(.help("The number of thing 5.")) var thing5 = 5
        @Pref(.help("The number of thing 6.")) var thing6 = 6
        @Pref(.help("The number of thing 7.")) var thing7 = 7
        @Pref(.help("The number of thing 8.")) var thing8 = 8
        @Pref(.help("The number of thing 9.")) var thing9 = 9
        @Pref(.help("The number of thing 10.")) var thing10 = 10
        @Pref(.help("The number of thing 11.")) var thing11 = 11
        @Pref(.help("The number of thing 12.")) var thing12 = 12
        @Pref(.help("The number of thing 13.")) var thing13 = 13
        @Pref(.help("The number of thing 14.")) var thing14 = 14
        @Pref(.help("The number of thing 15.")) var thing15 = 15
        @Pref(.help("The number of thing 16.")) var thing16 = 16
        @Pref(.help("The number of thing 17.")) var thing17 = 17
        @Pref(.help("The number of thing 18.")) var thing18 = 18
        @Pref(.help("The number of thing 19.")) var thing19 = 19
        @Pref(.help("The number of thing 20.")) var thing20 = 20
        @Pref(.help("The number of thing 21.")) var thing21 = 21
        @Pref(.help("The number of thing 22.")) var thing22 = 22
        @Pref(.help("The number of thing 23.")) var thing23 = 23
        @Pref(.help("The number of thing 24.")) var thing24 = 24
        @Pref(.help("The number of thing 25.")) var thing25 = 25
        @Pref(.help("The number of thing 26.")) var thing26 = 26
        @Pref(.help("The number of thing 27.")) var thing27 = 27
        @Pref(.help("The number of thing 28.")) var thing28 = 28
        @Pref(.help("The number of thing 29.")) var thing29 = 29
        @Pref(.help("The number of thing 30.")) var thing30 = 30
        @Pref(.help("The number of thing 31.")) var thing31 = 31
        @Pref(.help("The number of thing 32.")) var thing32 = 32
        @Pref(.help("The number of thing 33.")) var thing33 = 33
        @Pref(.help("The number of thing 34.")) var thing34 = 34
        @Pref(.help("The number of thing 35.")) var thing35 = 35
        @Pref(.help("The number of thing 36.")) var thing36 = 36
        @Pref(.help("The number of thing 37.")) var thing37 = 37
        @Pref(.help("The number of thing 38.")) var thing38 = 38
        @Pref(.help("The number of thing 39.")) var thing39 = 39
        @Pref(.help("The number of thing 40.")) var thing40 = 40
        @Pref(.help("The number of thing 41.")) var thing41 = 41
        @Pref(.help("The number of thing 42.")) var thing42 = 42
        @Pref(.help("The number of thing 43.")) var thing43 = 43
        @Pref(.help("The number of thing 44.")) var thing44 = 44
        @Pref(.help("The number of thing 45.")) var thing45 = 45
        @Pref(.help("The number of thing 46.")) var thing46 = 46
        @Pref(.help("The number of thing 47.")) var thing47 = 47
        @Pref(.help("The number of thing 48.")) var thing48 = 48
        @Pref(.help("The number of thing 49.")) var thing49 = 49
        @Pref(.help("The number of thing 50.")) var thing50 = 50
        @Pref(.help("The number of thing 51.")) var thing51 = 51
        @Pref(.help("The number of thing 52.")) var thing52 = 52
        @Pref(.help("The number of thing 53.")) var thing53 = 53
        @Pref(.help("The number of thing 54.")) var thing54 = 54
        @Pref(.help("The number of thing 55.")) var thing55 = 55
        @Pref(.help("The number of thing 56.")) var thing56 = 56
        @Pref(.help("The number of thing 57.")) var thing57 = 57
        @Pref(.help("The number of thing 58.")) var thing58 = 58
        @Pref(.help("The number of thing 59.")) var thing59 = 59
        @Pref(.help("The number of thing 60.")) var thing60 = 60
    }

    @Test func aProgramWithSixtyOptions() {
        let words = (1...60).reversed().flatMap {
            $0 % 2 == 0 ? ["--thing\($0)", "\($0 * 2)"] : ["--thing\($0)=\($0 * 2)"]
        }
        let arguments = ["p"] + words + ["-a7", "--thng8", "1", "file"]
        let prefs = SixtyPrefs(
            store: .layered(
                PrefsStore.memory(),
                above: [.arguments(arguments, short: ["a": "thing1"]), .environment(prefix: "P_", in: [:])]))
        #expect((1...60).map { prefs["thing\($0)"] as? Int } == [7] + (2...60).map { 2 * $0 })
        #expect(prefs.problems().map(\.description).contains { $0.contains("--thng8") })
        #expect(PrefsLayer.unusedArguments(by: prefs, in: arguments) == ["--thng8", "1", "file"])
        let lines = PrefsLayer.usage(of: prefs).split(separator: "\n")
        #expect(lines.count == 60 && lines.allSatisfy { $0.count <= 80 })
        #expect(lines.first == "  -a, --thing1 <Int>   The number of thing 1. (default 1; P_THING1)")
        #expect(lines.last == "      --thing60 <Int>  The number of thing 60. (default 60; P_THING60)")
    }

    @Test func longWordsAreKeptWhole() {
        final class Long: PersistentPrefs, @unchecked Sendable {
            @Pref(.help("See https://example.org/\(String(repeating: "a", count: 90)) for it.")) var level = 3
        }
        let usage = PrefsLayer.usage(of: Long(store: .layered(.memory(), above: [.arguments(["p"])])))
        let lines = usage.split(separator: "\n")
        #expect(
            lines.count == 3 && lines[0] == "      --level <Int>  See"
                && lines[2] == "                     for it. (default 3)")
        #expect(lines[1].hasSuffix("aaa") && lines[1].count == 21 + 20 + 90)
    }

    /// Also those that may be nil.
    @Test func everyListMayBeRepeated() {
        final class Lists: PersistentPrefs, @unchecked Sendable {
            @Pref var ports: [Int]? = nil
            @Pref var names: Set<String>? = nil
            @Pref var tags: [String] = []
            @Pref var size: Int? = nil
        }
        let usage = PrefsLayer.usage(of: Lists(store: .layered(.memory(), above: [.arguments(["p"])])))
        let lines = usage.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        let repeated = " (may be repeated)"
        #expect(
            lines == [
                "--ports <Int>\(repeated)", "--names <String>\(repeated)", "--tags <String>\(repeated)", "--size <Int>",
            ])
    }
}
