import Foundation
public import PersistentPreferences
import PrefsLayers

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
    /// Runs a command, prints its result to standard output and its errors to standard error, and returns the exit
    /// code.
    ///
    /// The exit code is 0 if the command succeeded, also with a warning. It is 1 if the command reported an error or
    /// has nothing to print; then nothing has changed unless the message says that the new state is stored. It is 64
    /// (`EX_USAGE` of sysexits.h) if the arguments were not understood. `watch` and `edit` return when the user ends
    /// them. A command costs the start of the program and one or two accesses to the store. Call it from the main
    /// thread of a program that does nothing else; it may ignore SIGPIPE and handle SIGINT.
    ///
    /// - Parameters:
    ///   - arguments: the words after the name of the command. An empty array stands for `show`.
    ///   - name: the words that users type before the arguments, such as `myapp prefs`, for messages, help and
    ///     completions.
    ///   - make: makes the preferences. The root key is nil unless the user gives `--root`, and the store is nil unless
    ///     the user gives `-f`. nil stands for the program's own key or store. The closure may be called more than
    ///     once, also with a store in memory.
    public static func run(
        _ arguments: [String], name: String,
        _ make: @escaping (_ root: String?, _ store: PrefsStore?) -> PersistentPrefs
    ) -> Int32 {
        // The tool's own options must not count as values of the program's keys.
        if CommandLine.arguments.suffix(arguments.count).elementsEqual(arguments) {
            PrefsLayer.wordsOfTool.withLock { $0 = arguments.count }
        }
        return run(arguments, of: Program(name: name, make: make))
    }

    /// Runs the tool of the program `prefs`, whose settings are in a UserDefaults domain, with other
    /// commands, too.
    ///
    /// - Parameters:
    ///   - suite: the domain of the preferences if the user names no other place.
    ///   - others: commands of the program.
    ///   - storeOfURL: makes a store of the URL that the user gives with `-f`.
    ///   - context: the environment and the streams of the process.
    package static func run(
        _ arguments: [String], name: String, suite: String, others: [CommandSpec],
        storeOfURL: @escaping (String) throws(PrefsError) -> PrefsStore, context: ProcessContext = .process,
        _ make: @escaping (_ root: String?, _ store: PrefsStore?) -> PersistentPrefs
    ) -> Int32 {
        run(
            arguments,
            of: Program(
                name: name, target: .suite(suite), storeOfURL: storeOfURL,
                commands: CommandSpec.all + others, make: make, context: context))
    }

    static func run(_ arguments: [String], of program: Program) -> Int32 {
        // Opens closed standard streams on /dev/null. Otherwise the next file that is opened would take their place,
        // and an import would read the preferences file as standard input. The access mode makes reads and writes fail,
        // as on a closed stream.
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
        // On Linux, Swift reads them from /proc. Without it there is not even a name, and no command may pass for `show`.
        guard CommandLine.argc > 0 else {
            return .failure(
                "the arguments of this program cannot be read: /proc is not mounted", code: Outcome.usageErrorCode,
                asJSON: false)
        }
        // Swift repairs invalid UTF-8, and a repaired path names another file.
        let isText = (1..<Int(max(1, CommandLine.argc))).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
        guard isText else {
            return .failure("an argument is not valid UTF-8", code: Outcome.usageErrorCode, asJSON: false)
        }
        // The tool compares arguments with names. For a safe text, that takes linear time.
        guard arguments.allSatisfy(StreamSafeText.isSafe) else {
            return .failure(
                "an argument has more than 30 combining marks in a row", code: Outcome.usageErrorCode, asJSON: false)
        }
        return nil
    }

    private static func outcome(of arguments: [String], in program: Program) -> Outcome {
        if arguments.first == CompletionScript.commandName {
            return CompletionWords(program: program).answer(Array(arguments.dropFirst()))
        }
        do {
            let invocation = try Invocation(arguments, of: program)
            return try UndoFolder(of: program).keeping(invocation) { try invocation.spec.run(invocation) }
        } catch {
            let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
            let code = error is UsageError ? Outcome.usageErrorCode : Outcome.failureCode
            return .failure("\(error)", code: code, asJSON: wantsJSON)
        }
    }
}
