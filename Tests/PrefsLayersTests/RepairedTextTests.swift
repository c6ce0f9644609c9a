import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

/// Variables and arguments of bytes that are not UTF-8: Swift repairs them, and the layer ignores them. `TrackerTests` has those of
/// a process.
@Suite struct RepairedTextTests {
    private static let repaired = "\u{FFFD}"

    /// Every text with U+FFFD is a repaired one here.
    private func prefs(variables: [String: String] = [:], arguments: [String] = []) -> LayerPrefs {
        func isText(_ text: String) -> Bool { !text.unicodeScalars.contains("\u{FFFD}") }
        let sources: [any TextSource] = [
            VariableSource(prefix: "APP_", in: variables) { isText($1) },
            ArgumentSource(["program"] + arguments) { isText($1) },
        ]
        let layers = zip(["environment", "arguments"], sources).map {
            PrefsLayer($0, .entries(.text(TextLayer($1))))
        }
        return LayerPrefs(store: .layered(.memory(), above: layers, below: [.values(["name": "below"])]))
    }

    @Test(arguments: ["APP_NAME", "APP_name"]) func aVariableIsIgnored(_ variable: String) {
        let prefs = prefs(variables: [variable: "a\(Self.repaired)", "APP_SIZE": "20"])
        let fault = PrefsProblem(layer: "environment", place: variable, reason: "is not UTF-8")
        #expect(prefs.name == "below" && prefs.lastError == .ignoredInLayer([fault]))
        #expect("\(PrefsError.ignoredInLayer([fault]))" == "layer environment: \(variable): is not UTF-8; ignored")
        #expect(prefs.size == 20 && prefs.lastError == nil)
        let problems = prefs.problems()
        #expect(problems.map(\.description) == ["\(variable): environment: is not UTF-8"])
        #expect(problems.map(\.source) == [.layer("environment")])
    }

    @Test(arguments: ["APP_SERVER_HOST", "APP_server_host"]) func aVariableOfAFieldIsIgnored(_ variable: String) {
        let prefs = prefs(variables: [variable: Self.repaired, "APP_SERVER_PORT": "81"])
        #expect(prefs.server.host == "localhost" && prefs.server.port == 81)
        #expect(
            prefs.lastError
                == .ignoredInLayer([PrefsProblem(layer: "environment", place: variable, reason: "is not UTF-8")]))
        #expect(prefs.problems().map(\.path) == [variable])
    }

    /// The value, in each form. Another argument may be of the program.
    @Test(arguments: [["--name", repaired], ["--name=\(repaired)"], ["-name", repaired]])
    func anArgumentIsIgnored(_ arguments: [String]) {
        let place = String(arguments[0].prefix { $0 != "=" })
        let prefs = prefs(arguments: ["file-\(Self.repaired)", "--size", "20"] + arguments + [Self.repaired])
        let fault = PrefsProblem(layer: "arguments", place: place, reason: "is not UTF-8")
        #expect(prefs.name == "below" && prefs.lastError == .ignoredInLayer([fault]))
        #expect(prefs.size == 20 && prefs.problems().map(\.description) == ["\(place): arguments: is not UTF-8"])
    }

    /// They were made by the program, and may have the character on purpose.
    @Test func textsOfTheProgramAreAsTheyAre() {
        let layers: [PrefsLayer] = [
            .environment(prefix: "APP_", in: ["APP_NAME": Self.repaired]),
            .arguments(["program", "-plain", Self.repaired]),
        ]
        let prefs = LayerPrefs(store: .layered(.memory(), above: layers))
        #expect(prefs.name == Self.repaired && prefs["plain"] as? String == Self.repaired)
        #expect(prefs.problems().isEmpty)
    }
}
