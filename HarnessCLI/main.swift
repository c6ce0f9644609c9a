import Foundation
import PersistentPreferences

// What is closed at the start would be given to the next file that is opened: an import would read the preferences.
// In its place is what cannot be read, or written, as it could not before.
for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}

// Swift repairs words that are not UTF-8, and a repaired path leads elsewhere.
let isText = (1..<Int(max(1, CommandLine.argc))).allSatisfy { index in
    CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
}
// Swift compares such words in quadratic time.
let isSafe = CommandLine.arguments.allSatisfy(StreamSafeText.isSafe)
let outcome =
    isText && isSafe
    ? Harness.run(Array(CommandLine.arguments.dropFirst()))
    : Outcome.failure(
        isText ? "a word with more than 30 combining marks in a row" : "a word that is not UTF-8; give names in UTF-8",
        code: Outcome.usageErrorCode, asJSON: false)
exit(outcome.write())
