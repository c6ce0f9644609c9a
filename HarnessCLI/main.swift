import Foundation

exit(Harness.run(Array(CommandLine.arguments.dropFirst())).write())
