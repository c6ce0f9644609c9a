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

    private struct Row: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let values: [String]
        let problems: [String]
        let unused: [String]

        init(_ arguments: [String], _ values: [String] = [], problems: [String] = [], unused: [String] = []) {
            (self.arguments, self.values, self.problems, self.unused) = (arguments, values, problems, unused)
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let rows: [Row] = [
        Row(["-p", "5"], ["port=5"]),
        Row(["-p5"], ["port=5"]),
        Row(["-p=5"], ["port=5"]),
        Row(["-n", "-x"], ["name=-x"]),
        Row(["-n=-x"], ["name=-x"]),
        Row(["-n="], ["name="]),
        Row(["-n", ""], ["name="]),
        Row(["-n=a=b"], ["name=a=b"]),
        Row(["-v"], ["verbose=true"]),
        Row(["-v", "x"], ["verbose=true"], unused: ["x"]),
        Row(["-v=false"], ["verbose=false"]),
        Row(["-vq"], ["quiet=true", "verbose=true"]),
        Row(["-vp5"], ["port=5", "verbose=true"]),
        Row(["-vqp", "5"], ["port=5", "quiet=true", "verbose=true"]),
        Row(["-vq=no"], ["quiet=false", "verbose=true"]),
        Row(["-p", "5", "--port", "6"], ["port=6"]),
        Row(["--port=6", "-p5"], ["port=5"]),
        Row(["-t", "a", "--tags", "b", "-tc"], [#"tags=["a", "b", "c"]"#]),
        Row(["-15"], ["offset=5"]),
        // The value of another option.
        Row(["--offset", "-15"], ["offset=-15"]),
        Row(["--name", "-v"], ["name=-v"]),
        Row(["-p", "-v"], problems: [#"-p: expected Int, found "-v": not a number"#]),
        // The name of a key.
        Row(["-nap", "5"], ["nap=5"]),
        Row(["-name", "x"], ["name=x"]),
        Row(["-p"], problems: ["-p: expected a value after it"]),
        Row(["-p", "--verbose"], ["verbose=true"], problems: ["-p: expected a value after it"]),
        Row(["-p0"], problems: ["-p: must be in 1...65535, found 0"]),
        Row(["-v=maybe"], problems: [#"-v: expected one of true, false, found "maybe""#]),
        Row(["-x"], unused: ["-x"]),
        Row(["-vx"], unused: ["-vx"]),
        Row(["-", "-z", "--"], unused: ["-", "-z", "--"]),
        Row(["-P", "5"], problems: [#"-P: no key has this argument; did you mean "-p"?"#], unused: ["-P", "5"]),
        Row(["--", "-p5"], unused: ["--", "-p5"]),
    ]

    @Test(arguments: rows) private func aWordIsRead(_ row: Row) {
        let arguments = ["p"] + row.arguments
        let prefs = ShortPrefs(
            store: .layered(.memory(), above: [.arguments(arguments, short: Self.short)]))
        let set = prefs.describe().filter { $0.source == .layer("arguments") }.map(\.key)
        let values = prefs.values
        func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "nil" }
        #expect(set.map { "\($0)=\(text(values[$0]))" }.sorted() == row.values.sorted())
        #expect(
            prefs.problems().map(\.description)
                == row.problems.map {
                    $0.replacingOccurrences(of: ": ", with: ": arguments: ", range: $0.range(of: ": "))
                })
        #expect(PrefsLayer.unusedArguments(by: prefs, in: arguments) == row.unused)
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
