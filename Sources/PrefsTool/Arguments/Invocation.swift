import Foundation
import PersistentPreferences
import PrefsJSON

/// A parsed command line.
package struct Invocation {
    let program: Program
    let spec: CommandSpec
    /// The words after the name of the command.
    let operands: [String]
    package let options: Options

    package var context: ProcessContext { program.context }
    package var wantsJSON: Bool { options.has(.json) }
    /// True if the command prints what it would change, and changes nothing.
    var isDryRun: Bool { options.has(.dryRun) }
    /// True if nothing needs a confirmation.
    var isForced: Bool { options.has(.force) }

    init(_ arguments: [String], of program: Program) throws(UsageError) {
        self.program = program
        options = try Options(arguments, of: program)
        var words = options.operands[...]
        let word = words.popFirst()
        if options.has(.version) {
            (spec, operands) = (.version, [])
        } else if options.has(.help) {
            (spec, operands) = (.help, word.map { [$0 == "help" ? words.first : $0].compactMap { $0 } } ?? [])
        } else {
            spec = try word.map { word throws(UsageError) in try Self.spec(word, of: program) } ?? program.commands[0]
            operands = Array(words)
            try checkOptions()
            try checkOperands()
        }
    }

    private func checkOptions() throws(UsageError) {
        for name in options.names {
            guard let option = program.options.first(where: { $0.name == name }), !spec.accepts(option) else {
                continue
            }
            let owners = program.commands.filter { $0.accepts(option) }.map { "`\($0.name)`" }
            throw UsageError(
                "`\(spec.name)` does not accept \(name); it is an option of \(owners.joined(separator: ", "))")
        }
    }

    private func checkOperands() throws(UsageError) {
        guard !spec.operandCount.contains(operands.count) else { return }
        let problem = operands.count < spec.operandCount.lowerBound ? "too few arguments" : "too many arguments"
        let remedy =
            problem == "too many arguments" && spec.name == "export"
            ? " (-o PATH writes to a file, -f exports a file)" : ""
        throw UsageError("\(problem) for `\(spec.name)`: \(program.name) \(spec.synopsis)\(remedy)")
    }

    /// The command with that name.
    private static func spec(_ name: String, of program: Program) throws(UsageError) -> CommandSpec {
        guard let spec = program.commands.first(where: { $0.name == name }) else {
            throw UsageError(
                "unknown command `\(ShownText.key(name))`\(Suggestion.textOrHelp(name, among: program.commands.map(\.name)))"
            )
        }
        return spec
    }
}
