import Foundation

exit(PrefsProgram.run(Array(CommandLine.arguments.dropFirst())))
