import Foundation
public import PersistentPreferences

/// A settings command for a program and its class of preferences: `myapp prefs set fontSize 14`.
///
/// ```swift
/// if CommandLine.arguments.dropFirst().first == "prefs" {
///     exit(
///         PrefsTool.run(Array(CommandLine.arguments.dropFirst(2)), name: "myapp prefs") { root, store in
///             store.map { EditorPrefs(key: root, store: $0) } ?? EditorPrefs(key: root)
///         })
/// }
/// ```
///
/// The article "A settings command for your program" has the commands.
public enum PrefsTool {
    /// Runs a command, prints its result to standard output and its errors to standard error, and returns the exit code.
    ///
    /// Exit codes are 0 if the command was done, also with a warning; 1 if it has reported an error or there is nothing to print, and
    /// then nothing has changed unless the message says that the new state is stored; 64 (`EX_USAGE` of sysexits.h) if the arguments
    /// were not understood. `watch` and `edit` return when the user ends them. A command costs the start of the program and one or two
    /// accesses to the store. Call it from the main thread of a program that does nothing else; it may ignore SIGPIPE and handle SIGINT.
    ///
    /// - Parameters:
    ///   - arguments: the words after the name of the command. None stands for `show`.
    ///   - name: what users type before these words, such as `myapp prefs`, for messages, help and completions.
    ///   - make: makes the preferences. The root key is nil unless the user gives `--root`, the store is nil unless the user gives
    ///     `--suite` or `--file`; nil stands for the program's own. It may be called more than once, also with a store in memory.
    public static func run(
        _ arguments: [String], name: String,
        _ make: @escaping (_ root: String?, _ store: (any PrefsStore)?) -> PersistentPrefs
    ) -> Int32 {
        let commands = CommandSpec.ofClass + CommandSpec.transfer + CommandSpec.others
        return run(arguments, of: Program(name: name, commands: commands, make: make))
    }

    /// The same with the commands on any domain, and the stress: the program `prefs`.
    ///
    /// - Parameters:
    ///   - suite: where the preferences are if the user names no other place.
    ///   - storeOfURL: makes a store of the URL that the user gives with `--store`.
    ///   - context: what the run takes from its process.
    package static func runWithDomains(
        _ arguments: [String], name: String, suite: String,
        storeOfURL: @escaping (String) throws(PrefsError) -> any PrefsStore, context: ProcessContext = .process,
        _ make: @escaping (_ root: String?, _ store: (any PrefsStore)?) -> PersistentPrefs
    ) -> Int32 {
        run(
            arguments,
            of: Program(
                name: name, target: .suite(suite), storeOfURL: storeOfURL, commands: CommandSpec.all, make: make,
                context: context))
    }

    static func run(_ arguments: [String], of program: Program) -> Int32 {
        // Opens closed standard streams on /dev/null. Otherwise the next file that is opened would take their place, and an import would
        // read the preferences file as standard input. The access mode makes reads and writes fail, as on a closed stream.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        return program.context.withConfigurationFolder {
            (rejection(of: arguments) ?? outcome(of: arguments, in: program)).write(
                as: program.name, in: program.context)
        }
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
        switch arguments.first {
        case StressWorker.commandName where program.hasCommand("stress"):
            return StressWorker.run(Array(arguments.dropFirst()))
        case CompletionWords.commandName:
            return CompletionWords(program: program).answer(Array(arguments.dropFirst()))
        default: break
        }
        do {
            let invocation = try Invocation(arguments, of: program)
            return try WriteSupport(invocation, of: program).run { try run(invocation, in: program) }
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
        func domain(_ target: Target) throws -> DomainRunner { try DomainRunner(target, invocation, of: program) }
        func named(_ target: Target?) throws -> Target { try target ?? invocation.target ?? ofClass().ownTarget() }
        func search() -> DomainSearch { DomainSearch(wantsJSON: wantsJSON) }
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
        case .domains: try search().list()
        case .find(let word): try search().find(word)
        case .read(nil, _): try search().read()
        case .read(let target?, let place): try domain(target).read(place)
        case .readType(let target, let place): try domain(target).readType(place)
        case .write(let target, let place, let value, let expected):
            try domain(target).write(place, value, expected: expected)
        case .rename(let target, let place, let name): try domain(target).rename(place, to: name)
        case .delete(let target, let place): try domain(target).delete(place)
        case .export(let format, let target?, let path): try domain(target).export(as: format, to: path)
        case .export(let format, nil, let path): try TransferRunner(ofClass()).export(as: format, to: path)
        case .import(let target?, let path, let merge): try domain(target).importValues(from: path, merge: merge)
        case .import(nil, let path, let merge): try TransferRunner(ofClass()).importValues(from: path, merge: merge)
        case .undo(let target):
            try UndoRunner(
                target: named(target), folder: UndoFolder(of: program), isDryRun: invocation.isDryRun,
                secrets: Secrets(of: program.sample, reveals: invocation.reveals), wantsJSON: wantsJSON,
                context: program.context
            ).run()
        case .vet(let path): VetRunner(program, wantsJSON: wantsJSON).run(path)
        case .doctor(let target, let mends):
            try Doctor(program: program, wantsJSON: wantsJSON).run(named(target), mends: mends)
        case .stress(let plan): Stress(plan, program.context, wantsJSON: wantsJSON).run()
        case .completions(let shell): Outcome(output: CompletionScript(of: program).text(for: shell))
        case .help(let topic): Outcome(output: try Help(of: program).text(topic))
        case .manual: Outcome(output: ManualPage(of: program).text)
        case .version: Outcome(output: "\(program.name) \(Help.version)\n")
        }
    }
}
