import Foundation
import PersistentPreferences

/// The editor that a person has chosen.
struct TextEditor {
    /// A command of the shell, such as `code --wait`.
    private let command: String
    private let environment: [String: String]

    /// Takes the editor from VISUAL or EDITOR, else vi.
    ///
    /// - Throws: `UsageError` if none is named and there is no terminal for vi.
    init(of program: Program) throws(UsageError) {
        environment = program.context.environment
        let named = ["VISUAL", "EDITOR"].compactMap { [environment] in environment[$0] }.first {
            !$0.allSatisfy(\.isWhitespace)
        }
        guard named != nil || isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 else {
            throw UsageError(
                "`edit` needs a terminal, or an editor in VISUAL or EDITOR that needs none; use `\(program.name) set`")
        }
        command = named ?? "vi"
    }

    /// The signals of a terminal, and those that end programs. While the editor runs, they are its own: it may have a
    /// text that is not saved.
    private static let signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]

    /// Returns when the editor has ended.
    ///
    /// - Throws: an error if the editor did not end with 0.
    func edit(_ path: String) throws(CommandError) {
        let former = Self.signals.map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in former { signal(number, handler) } }
        // As Git runs its editor: blanks and arguments in the command are those of a shell. The shell must outlive a
        // Control-C that the editor handles.
        let script = "trap : INT QUIT; \(command) \"$@\""
        let status = try Self.run(["/bin/sh", "-c", script, command, path], environment)
        if status == 0 { return }
        let reason = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
        throw CommandError("the editor ended with \(reason): \(command)")
    }
}

// These platforms start no programs.
#if os(tvOS) || os(watchOS)
    extension TextEditor {
        private static func run(_ words: [String], _ environment: [String: String]) throws(CommandError) -> Int32 {
            throw CommandError("this platform starts no programs")
        }
    }
#else
    extension TextEditor {
        /// Runs a program with the signals of this process, except for those that it ignores itself.
        private static func run(_ words: [String], _ environment: [String: String]) throws(CommandError) -> Int32 {
            var attributes = initialized(posix_spawnattr_init)
            defer { posix_spawnattr_destroy(&attributes) }
            var signals = sigset_t()
            sigemptyset(&signals)
            for number in Self.signals { sigaddset(&signals, number) }
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
            var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
            var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
            defer { for word in arguments + variables { free(word) } }
            var process: pid_t = 0
            let code = posix_spawn(&process, words[0], nil, &attributes, &arguments, &variables)
            guard code == 0 else { throw CommandError("\(words[0]): \(String(cString: strerror(code)))") }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status
        }

        /// A value that a C function initializes. Its type is a struct on Linux, an optional pointer on Apple platforms.
        private static func initialized<T>(_ initialize: (UnsafeMutablePointer<T>) -> Int32) -> T {
            let memory = UnsafeMutablePointer<T>.allocate(capacity: 1)
            defer { memory.deallocate() }
            _ = initialize(memory)
            return memory.move()
        }
    }
#endif
