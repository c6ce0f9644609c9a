import Foundation
import PersistentPreferences
import Testing

@testable import PrefsLayers

/// Letters that stand for options.
@Suite struct ShortOptionTests {
    private final class ShortPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.in(1...65_535)) var port = 80
        @Pref var verbose = false
        @Pref var quiet = false
        @Pref var name = "none"
        @Pref var tags: [String] = []
        @Pref var offset = 0
        @Pref var nap = 0
    }

    private static let short: [Character: String] = [
        "p": "port", "v": "verbose", "q": "quiet", "n": "name", "t": "tags", "1": "offset", "z": "zone",
    ]

    private static let rows: [WordsRow] = [
        WordsRow(["-p", "5"], ["port=5"]),
        WordsRow(["-p5"], ["port=5"]),
        WordsRow(["-p=5"], ["port=5"]),
        WordsRow(["-n", "-x"], ["name=-x"]),
        WordsRow(["-n=-x"], ["name=-x"]),
        WordsRow(["-n="], ["name="]),
        WordsRow(["-n", ""], ["name="]),
        WordsRow(["-n=a=b"], ["name=a=b"]),
        WordsRow(["-v"], ["verbose=true"]),
        WordsRow(["-v", "x"], ["verbose=true"], unused: ["x"]),
        WordsRow(["-v=false"], ["verbose=false"]),
        WordsRow(["-vq"], ["quiet=true", "verbose=true"]),
        WordsRow(["-vp5"], ["port=5", "verbose=true"]),
        WordsRow(["-vqp", "5"], ["port=5", "quiet=true", "verbose=true"]),
        WordsRow(["-vq=no"], ["quiet=false", "verbose=true"]),
        WordsRow(["-p", "5", "--port", "6"], ["port=6"]),
        WordsRow(["--port=6", "-p5"], ["port=5"]),
        WordsRow(["-t", "a", "--tags", "b", "-tc"], [#"tags=["a", "b", "c"]"#]),
        WordsRow(["-15"], ["offset=5"]),
        // The value of another option.
        WordsRow(["--offset", "-15"], ["offset=-15"]),
        WordsRow(["--name", "-v"], ["name=-v"]),
        WordsRow(["-p", "-v"], problems: [#"-p: expected Int, found "-v": not a number"#]),
        // The name of a key.
        WordsRow(["-nap", "5"], ["nap=5"]),
        WordsRow(["-name", "x"], ["name=x"]),
        WordsRow(["-p"], problems: ["-p: expected a value after it"]),
        WordsRow(["-p", "--verbose"], ["verbose=true"], problems: ["-p: expected a value after it"]),
        WordsRow(["-p0"], problems: ["-p: must be in 1...65535, found 0"]),
        WordsRow(["-v=maybe"], problems: [#"-v: expected one of true, false, found "maybe""#]),
        WordsRow(["-x"], unused: ["-x"]),
        WordsRow(["-vx"], unused: ["-vx"]),
        WordsRow(["-", "-z", "--"], unused: ["-", "-z", "--"]),
        WordsRow(["-P", "5"], problems: [#"-P: no key has this argument; did you mean "-p"?"#], unused: ["-P", "5"]),
        WordsRow(["--", "-p5"], unused: ["--", "-p5"]),
    ]

    @Test(arguments: rows) func aWordIsRead(_ row: WordsRow) {
        let words = ["p"] + row.input
        row.check(
            ShortPrefs(store: .layered(.memory(), above: [.arguments(words, short: Self.short)])), words)
    }

    @Test func aLetterOfAnyLayerIsUsed() {
        let words = ["p", "-p", "5", "a", "-vn", "x"]
        let layers = [PrefsLayer.environment(prefix: "X_", in: [:]), .arguments(words, short: Self.short)]
        for (above, below) in [(layers, []), ([], layers)] {
            let prefs = ShortPrefs(store: .layered(.memory(), above: above, below: below))
            #expect(PrefsLayer.unusedArguments(by: prefs, in: words) == ["a"])
        }
    }

    @Test(arguments: ["-", "=", " ", "é", "٣", "👍"] as [Character])
    func anotherCharacterIsAFault(_ letter: Character) {
        let prefs = ShortPrefs(
            store: .layered(.memory(), above: [.arguments(["p", "--port=5"], short: [letter: "port"])]))
        #expect(prefs.port == 80)
        #expect(
            prefs.problems().map(\.description) == [
                "arguments: expected an ASCII letter or digit as a short option, found \"\(letter)\""
            ])
    }
}
