import Foundation
import PersistentPreferences

/// Reports what is wrong with a file of preferences.
struct VetRunner {
    private let program: Program
    private let wantsJSON: Bool

    init(_ program: Program, wantsJSON: Bool) {
        self.program = program
        self.wantsJSON = wantsJSON
    }

    func run(_ path: String) -> Outcome {
        var examination = FileInspection(path: path.absolutePath, isJSON: Target.format(of: path) == .json)
        if examination.state == .whole { examination.check(program.prefs(in: .file(path))) }
        let code = examination.problems.isEmpty ? 0 : Outcome.failureCode
        return wantsJSON
            ? Outcome(output: json(path, examination), as: .json, code: code)
            : Outcome(output: text(path, examination), code: code)
    }

    /// "a binary property list, 2 roots, 7 values"
    static func summary(_ examination: FileInspection) -> String {
        let format =
            switch examination.format {
            case .xml: "an XML property list"
            case .json: "JSON"
            default: "a binary property list"
            }
        return "\(format), \(count(examination.roots, "root")), \(count(examination.values, "value"))"
    }

    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns the key path of a problem and its reason.
    static func line(_ problem: FileInspection.Problem) -> String {
        let path = problem.path.isEmpty ? "\"\"" : ShownText.path(problem.path)
        return problem.keys.isEmpty ? problem.reason : "\(path): \(problem.reason)"
    }

    private func text(_ path: String, _ examination: FileInspection) -> String {
        var lines = examination.problems.map { "\(path): \(Self.line($0))" }
        if lines.isEmpty { lines.append("\(path): \(Self.summary(examination)); nothing wrong") }
        if examination.otherEntries > 0 {
            let entries =
                examination.otherEntries == 1
                ? "1 top-level entry is not a root" : "\(examination.otherEntries) top-level entries are not roots"
            lines.append("\(path): \(entries); UserDefaults domains may contain such entries")
        }
        return lines.map { $0.printable + "\n" }.joined()
    }

    private func json(_ path: String, _ examination: FileInspection) -> String {
        let problems = examination.problems.map { ["path": $0.path, "reason": $0.reason] }
        return JSONText.object([
            ("file", path), ("format", examination.format?.rawValue), ("roots", examination.roots),
            ("values", examination.values), ("problems", problems),
        ]).json + "\n"
    }
}
