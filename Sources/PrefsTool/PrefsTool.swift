import Foundation
public import PersistentPreferences

public enum PrefsTool {
    /// Runs a command on preferences, prints its result, and returns the exit code.
    public static func run(
        _ arguments: [String], name: String,
        _ make: @escaping (_ root: String?, _ store: (any PrefsStore)?) -> PersistentPrefs
    ) -> Int32 {
        let commands = CommandSpec.ofClass + CommandSpec.transfer + CommandSpec.others
        return run(arguments, in: Program(name: name, commands: commands, make: make))
    }

    /// The same with the commands on any domain, and the stress: the program `prefs`.
    package static func runWithDomains(
        _ arguments: [String], name: String, suite: String,
        _ make: @escaping (_ root: String?, _ store: (any PrefsStore)?) -> PersistentPrefs
    ) -> Int32 {
        run(arguments, in: Program(name: name, target: .suite(suite), commands: CommandSpec.all, make: make))
    }

    private static func run(_ arguments: [String], in program: Program) -> Int32 {
        // Opens closed standard streams on /dev/null. Otherwise the next file that is opened would take their place, and an import would
        // read the preferences file as standard input. The access mode makes reads and writes fail, as on a closed stream.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        return (rejection(of: arguments) ?? outcome(of: arguments, in: program)).write(as: program.name)
    }

    /// Why arguments cannot be used at all.
    private static func rejection(of arguments: [String]) -> Outcome? {
        // Swift repairs invalid UTF-8, and a repaired path names another file.
        let isText = (1..<Int(max(1, CommandLine.argc))).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
        guard isText else {
            return .failure("an argument is not valid UTF-8", code: Outcome.usageErrorCode, asJSON: false)
        }
        // Swift compares strings with many combining marks in quadratic time.
        guard arguments.allSatisfy(StreamSafeText.isSafe) else {
            return .failure(
                "an argument has more than 30 combining marks in a row", code: Outcome.usageErrorCode, asJSON: false)
        }
        return nil
    }

    private static func outcome(of arguments: [String], in program: Program) -> Outcome {
        if arguments.first == StressWorker.commandName { return StressWorker.run(Array(arguments.dropFirst())) }
        do {
            return try run(try Invocation(arguments, of: program), in: program)
        } catch {
            let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
            let code = error is UsageError ? Outcome.usageErrorCode : Outcome.failureCode
            return .failure("\(error)", code: code, asJSON: wantsJSON)
        }
    }

    /// Has no `default`, so that a command without an implementation does not compile.
    private static func run(_ invocation: Invocation, in program: Program) throws -> Outcome {
        let wantsJSON = invocation.wantsJSON
        func ofClass() -> PrefsRunner { PrefsRunner(invocation, of: program) }
        func domain(_ target: Target) throws -> DomainRunner { try DomainRunner(target, wantsJSON: wantsJSON) }
        func transfer() throws -> TransferRunner {
            guard let target = invocation.domain else { return ofClass().transfer() }
            return try domain(target).transfer(root: invocation.root)
        }
        return switch invocation.command {
        case .show: ofClass().show()
        case .get(let name, let stored, let text): ofClass().get(name, stored: stored, defaultText: text)
        case .set(let assignments, let expected): ofClass().set(assignments, expected: expected)
        case .unset(let names): ofClass().unset(names)
        case .reset: ofClass().reset()
        case .increment(let name, let amount): ofClass().increment(name, by: amount)
        case .toggle(let name): ofClass().toggle(name)
        case .schema: ofClass().schema()
        case .edit(let domain?): EditCommand(program: program, wantsJSON: wantsJSON).edit(domain)
        case .edit(nil): ofClass().edit()
        case .watch(let names): ofClass().watch(names)
        case .watchDomain(let words): try ofClass().watchDomain(words)
        case .read(let target, let root, let key): try domain(target).read(root: root, key: key)
        case .readType(let target, let root, let key): try domain(target).readType(root: root, key: key)
        case .write(let target, let root, let key, let value): try domain(target).write(root: root, key: key, value)
        case .delete(let target, let root, let key): try domain(target).delete(root: root, key: key)
        case .export(let format, let path): try transfer().export(as: format, to: path)
        case .import(let path, let merge):
            try transfer().importValues(from: path, merge: merge, dryRun: invocation.isDryRun)
        case .vet(let path): VetRunner.run(path, wantsJSON: wantsJSON)
        case .doctor(let target, let mends):
            try Doctor.run(target ?? invocation.target ?? ofClass().ownTarget(), mends: mends, wantsJSON: wantsJSON)
        case .stress(let plan): Stress(plan, wantsJSON: wantsJSON).run()
        case .completions: Outcome(output: Completions(of: program).bash)
        case .help(let spec): Outcome(output: Help(of: program).text(spec))
        case .version: Outcome(output: "\(program.name) \(Help.version)\n")
        }
    }
}
