import Foundation

let outcome = Harness.run(Array(CommandLine.arguments.dropFirst()))
Outcome.write(outcome.output, to: FileHandle.standardOutput)
Outcome.write(outcome.errors, to: FileHandle.standardError)
exit(outcome.code)
