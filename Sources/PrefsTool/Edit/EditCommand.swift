import Foundation
import PersistentPreferences

/// Runs an editor on a source: the form, or line editing if the terminal cannot show it.
struct EditCommand {
    let program: Program
    let wantsJSON: Bool

    /// - Parameter setter: the command that stores values without a terminal.
    func run(setter: String, _ source: () throws -> any EditableSource) -> Outcome {
        guard !wantsJSON else {
            return .failure("`edit` does not support --json", code: Outcome.usageErrorCode, asJSON: true)
        }
        guard Terminal.isAvailable else {
            let remedy = "use `\(program.name) \(setter)` without one"
            return .failure(
                "`edit` needs a terminal on standard input and output; \(remedy)", code: Outcome.usageErrorCode,
                asJSON: false)
        }
        do {
            let source = try source()
            if Terminal.hasScreen {
                var editor = try Editor(source, command: "\(program.name) edit")
                try editor.run()
            } else {
                var editor = LineEditor(
                    source, columns: Terminal.size.columns, readLine: program.context.readLine,
                    write: { try program.context.writeOutput(Data($0.utf8)) })
                try editor.run()
            }
            return Outcome()
        } catch {
            return .failure("\(error)", asJSON: false)
        }
    }

    func edit(_ target: Target) -> Outcome {
        run(setter: "write") { DomainSource(try target.domain(), name: target.name) }
    }
}

extension PrefsRunner {
    func edit() -> Outcome {
        EditCommand(program: program, wantsJSON: invocation.wantsJSON).run(setter: "set") {
            ClassSource(prefs, title: "\(prefs.key)  \(file ?? storeName)", file: file, reveals: invocation.reveals)
        }
    }
}
