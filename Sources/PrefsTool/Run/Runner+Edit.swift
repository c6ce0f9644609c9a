import Foundation

extension Runner {
    /// Edits the values in the form.
    func edit() throws -> Outcome {
        if wantsJSON { throw UsageError("`edit` does not support --json") }
        guard Terminal.isAvailable else {
            throw UsageError(
                "`edit` needs a terminal on standard input and output; use `\(program.name) set` without one")
        }
        guard Terminal.hasScreen else {
            let size = EditorScreen.Size.minimum
            throw UsageError(
                "`edit` needs a terminal of at least \(size.columns) x \(size.rows) that TERM names; "
                    + "use `\(program.name) set` on this one")
        }
        var editor = try Editor(place, command: "\(program.name) edit")
        try editor.run()
        return Outcome()
    }
}
