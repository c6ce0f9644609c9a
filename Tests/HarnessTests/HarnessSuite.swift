import EngineSupport
import TestSupport
import Testing

@testable import PrefsTool

/// The base class of suites whose tests have a home of their own.
class HarnessSuite {
    let home: HarnessHome

    init() throws { home = try HarnessHome() }

    /// The program whose commands run; nil stands for `prefs`.
    var program: Program? { nil }

    @discardableResult
    func prefs(_ arguments: String...) throws -> Printed { try prefs(arguments) }

    @discardableResult
    func prefs(_ arguments: [String], _ variables: [String: String] = [:], input: String = "") throws -> Printed {
        guard let program else { return try home.prefs(arguments, variables) }
        let environment = variables.merging(["HOME": home.folder.path]) { $1 }
        return try CommandRun(environment: environment).run(arguments, of: program, input: input)
    }

    /// - Parameter file: the path of the file that has the test set.
    @discardableResult
    func prefs(_ arguments: String..., in file: String) throws -> Printed { try prefs(arguments, in: file) }

    @discardableResult
    func prefs(_ arguments: [String], in file: String) throws -> Printed {
        try prefs(arguments + ["-f", file, "--root", "PrefsTestSet"])
    }

    /// The failure of a command of `program`.
    func failure(_ message: String) -> Printed {
        Printed(errors: "\(program?.name ?? "prefs"): \(message)\n", code: 1)
    }
}

extension Trait where Self == WaitingThreads {
    /// For suites that wait for processes.
    static var waits: Self { WaitingThreads() }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test only if the machine has what it needs. If not, the output says that it was skipped, and why.
    static func needs(
        _ name: String, _ condition: @autoclosure @escaping @Sendable () -> Bool, else reason: String
    ) -> Self {
        .enabled(if: Hazard.canRun(name, if: condition(), else: reason))
    }
}
