import Foundation
import PersistentPreferences

// Opens closed standard streams on /dev/null. Otherwise the next file that is opened would take their place, and an import would
// read the preferences file as standard input. The access mode makes reads and writes fail, as on a closed stream.
for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}

// Swift repairs invalid UTF-8, and a repaired path names another file.
let isText = (1..<Int(max(1, CommandLine.argc))).allSatisfy { index in
    CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
}
// Swift compares strings with many combining marks in quadratic time.
let isSafe = CommandLine.arguments.allSatisfy(StreamSafeText.isSafe)
let outcome =
    isText && isSafe
    ? Harness.run(Array(CommandLine.arguments.dropFirst()))
    : Outcome.failure(
        isText ? "an argument has more than 30 combining marks in a row" : "an argument is not valid UTF-8",
        code: Outcome.usageErrorCode, asJSON: false)
exit(outcome.write())
