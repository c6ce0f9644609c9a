import Foundation

/// Whether a text of this process is what was given to it. The environment and the arguments are bytes, and Swift repairs
/// those that are not UTF-8: each becomes U+FFFD.
enum ProcessText {
    /// Whether the value of a variable is UTF-8.
    ///
    /// - Parameter value: what Foundation gives for it.
    static func isText(variable name: String, _ value: String) -> Bool {
        // The system is asked only if the text may be a repaired one.
        guard mayBeRepaired(value), let bytes = getenv(name) else { return true }
        return String(validatingCString: bytes) != nil
    }

    /// Whether an argument is UTF-8.
    ///
    /// - Parameters:
    ///   - index: 0 is the name of the program.
    ///   - argument: what Swift gives for it.
    static func isText(argument index: Int, _ argument: String) -> Bool {
        guard mayBeRepaired(argument), index < Int(CommandLine.argc), let bytes = CommandLine.unsafeArgv[index] else {
            return true
        }
        // A program may have replaced the list of its arguments.
        return String(validatingCString: bytes) != nil || String(cString: bytes) != argument
    }

    private static func mayBeRepaired(_ text: String) -> Bool { text.unicodeScalars.contains("\u{FFFD}") }
}
