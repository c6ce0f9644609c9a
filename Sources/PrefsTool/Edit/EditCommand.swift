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
                    source, columns: Terminal.size.columns, readLine: Self.readLine,
                    write: { try FileHandle.standardOutput.write(contentsOf: Data($0.utf8)) })
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

    /// Reads a line of the terminal. Its driver edits lines, and hands out one at a time.
    ///
    /// - Throws: `CommandError` if the line is not UTF-8, which `Swift.readLine` would repair.
    private static func readLine() throws -> String? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = read(STDIN_FILENO, &bytes, bytes.count)
        while count < 0, errno == EINTR { count = read(STDIN_FILENO, &bytes, bytes.count) }
        guard count > 0 else { return nil }
        guard let text = String(data: Data(bytes.prefix(count)), encoding: .utf8) else {
            throw CommandError("the line is not valid UTF-8")
        }
        return text.utf8.last == UInt8(ascii: "\n") ? String(text.unicodeScalars.dropLast()) : text
    }
}

extension PrefsRunner {
    func edit() -> Outcome {
        EditCommand(program: program, wantsJSON: invocation.wantsJSON).run(setter: "set") {
            _ = prepareToShow()
            return ClassSource(prefs, title: "\(prefs.key)  \(file ?? storeName)", file: file)
        }
    }
}
