/// parse → run → print: each in a file of its own.
enum Harness {
    /// - Parameter arguments: without the name of the program.
    static func run(_ arguments: [String]) -> Outcome {
        do {
            let invocation = try Invocation(arguments)
            return invocation.wantsHelp ? Outcome(output: Invocation.help) : Runner(invocation).run()
        } catch {
            let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
            return .failure(error.description, code: Outcome.wrongUsage, asJSON: wantsJSON)
        }
    }
}

/// Words that the harness does not understand, and how to mend them, in one line.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
