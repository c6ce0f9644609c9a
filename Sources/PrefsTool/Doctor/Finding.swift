/// A problem or a note about the state of a file, and the command that solves it.
struct Finding {
    let reason: String
    var command: String?
    /// True for a problem, false for a note.
    var isProblem = true
}
