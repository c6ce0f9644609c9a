import Foundation
import TestSupport
import Testing

/// A suite whose tests run `Probe surroundings` with steps and the expected answers.
class SituationSuite: ProbeSuite {
    /// A command of the probe and its answer, as in "get => 1 ok". Without an answer, "ok" is expected.
    struct Step: ExpressibleByStringInterpolation {
        let command: String
        let answer: String

        init(stringLiteral text: String) {
            let parts = text.components(separatedBy: " => ")
            (command, answer) = (parts[0], parts.count > 1 ? parts[1...].joined(separator: " => ") : "ok")
        }
    }

    /// One situation: all steps in one process. The steps after `later` must succeed once the problem is gone.
    ///
    /// - Parameter prefix: a program and its first arguments that run the probe, for example in its own namespace.
    func run(_ name: String, through prefix: [String] = [], _ steps: [Step], later: [Step] = []) throws {
        let arguments = ["surroundings"] + (steps + later).map(\.command)
        let words = prefix + [try Child.executable("Probe").path] + arguments
        let result = try Child(
            URL(filePath: words[0]), Array(words.dropFirst()), environment: ["HOME": home.path]
        ).wait()
        let answers = result.output.split(separator: "\n").map(String.init)
        let expected = (steps + later).map { "\($0.command.prefix { $0 != " " }): \($0.answer)" }
        for (number, line) in expected.enumerated() {
            let answer = number < answers.count ? answers[number] : "nothing"
            #expect(answer == line, "\(name): \(arguments[number + 1].prefix(80))")
        }
        #expect(result.code == 0, "\(name): \(result.errors)")
    }
}

/// Tests that only root can run.
enum Root {
    static let isHere = geteuid() == 0

    /// Whether the tests run as root. If not, the summary names the skipped test.
    static func canRun(_ name: String) -> Bool {
        Hazard.canRun("surroundings: \(name)", if: isHere, else: "only root can do that")
    }

    /// Steps that make the probe an ordinary user; empty if it already is one.
    static func asUser(_ user: Int) -> [SituationSuite.Step] {
        isHere ? ["identity \(user)"] : []
    }
}
