/// Something to tell about the state of a file, and the command that mends or uses it.
struct Finding {
    let reason: String
    var command: String?
    /// Whether it needs mending.
    var isTrouble = true
}
