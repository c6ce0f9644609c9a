import Foundation

// Swift repairs words that are not UTF-8, and a repaired path leads elsewhere.
let isText = (1..<Int(max(1, CommandLine.argc))).allSatisfy { index in
    CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
}
let outcome =
    isText
    ? Harness.run(Array(CommandLine.arguments.dropFirst()))
    : Outcome.failure("a word that is not UTF-8; give names in UTF-8", code: Outcome.wrongUsage, asJSON: false)
exit(outcome.write())
