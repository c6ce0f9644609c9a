import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON

/// Opens a text in the editor, again and again, until it can be stored or the person gives up.
struct EditSession {
    private let invocation: Invocation
    private let editor: TextEditor
    private let place: Place
    private var document: any EditedDocument
    private let file: PrivateFile
    private var answers = ValueMerge.Answers()
    /// Whether the editor may have left a window with the text.
    private var mayBeOpen = false

    init(_ place: Place, _ invocation: Invocation) throws {
        (self.invocation, self.place) = (invocation, place)
        editor = try TextEditor(of: invocation.program)
        document = try FileDocument(place, invocation) ?? SettingsDocument(place, invocation)
        file = try PrivateFile(named: document.syntax.fileName, invocation.context)
    }

    /// Edits and stores. A text that is not stored is kept, and the error says where.
    mutating func run() throws -> Outcome {
        let start = document.text
        var text = start
        do {
            let outcome = try edit(&text)
            if !mayBeOpen { file.remove() }
            return outcome
        } catch {
            guard text != start else {
                file.remove()
                throw error
            }
            throw CommandError("\(error); your text is in \(file.path)")
        }
    }

    private mutating func edit(_ text: inout Data) throws -> Outcome {
        var remarks = document.remarks
        var openings = 0
        var failure = Result<Void, any Error>.success(())
        while true {
            openings += 1
            // A script that makes the same mistake each time would run for ever.
            if openings > Self.mostOpenings, isatty(invocation.context.input) != 1 { throw rejection(remarks) }
            let opened = AnnotatedText(text, remarks, in: document.syntax)
            try file.write(opened.bytes)
            let time = ContinuousClock().measure { failure = Result { try editor.edit(file.path) } }
            let saved = opened.withoutRemarks(try file.read())
            // Some editors end the last line.
            let isUnchanged = saved == text || saved == text + Data("\n".utf8)
            if !isUnchanged, !saved.isBlank { text = saved }
            do { try failure.get() } catch { throw CommandError("\(error); nothing has changed") }
            if saved.isBlank { return unchanged }
            if isUnchanged {
                mayBeOpen = remarks.isEmpty && time < Self.shortestLook && isatty(invocation.context.input) == 1
                guard !remarks.isEmpty else { return unchanged }
                throw rejection(remarks)
            }
            do {
                if let outcome = try store(&text, &remarks) { return outcome }
            } catch let rejection as EditRejection {
                remarks = rejection.remarks
            }
        }
    }

    /// How often a text that is wrong opens an editor without a terminal.
    private static let mostOpenings = 10

    private func rejection(_ remarks: [AnnotatedText.Remark]) -> CommandError {
        let reasons = remarks.map { remark in (remark.line.map { "line \($0): " } ?? "") + remark.text }
        return CommandError(
            (place.file.map { "\($0): " } ?? "") + reasons.joined(separator: "; ") + "; nothing has changed")
    }

    /// Nobody reads a text and ends the editor in less time. An editor of windows does, unless it has an option to wait.
    private static let shortestLook = Duration.seconds(1)

    private var unchanged: Outcome {
        let hint =
            mayBeOpen
            ? "; the editor ended at once, so if it has opened a window, name it with its option that waits, such as "
                + "`code --wait`; the text is in \(file.path)" : ""
        return Outcome().adding([.init(text: "nothing has changed" + hint, isError: false, isJSON: false)])
    }

    // MARK: - Storing

    /// Stores the text. Asks about values that another process has changed, too.
    ///
    /// - Returns: nil if the person wants to edit the text again.
    private mutating func store(_ text: inout Data, _ remarks: inout [AnnotatedText.Remark]) throws -> Outcome? {
        let wait = try LockWait(timeout: invocation.options.seconds(.timeout)) {
            [context = invocation.context, name = invocation.program.name, file] text in
            let text = "\(text); your text is in \(file.path)"
            let message = Outcome.Message(text: text, isError: false, isJSON: false)
            context.writeError(message.line(as: name, in: context) + "\n")
        }
        while true {
            do {
                return try LockWait.$current.withValue(wait) { try document.store(text, answers) }
            } catch let failure as ValueMerge.Unresolved {
                for conflict in failure.conflicts {
                    guard let replaces = try ask(conflict) else {
                        text = try document.catchUp(text)
                        remarks = failure.conflicts.map { remark(about: $0, in: text) }
                        return nil
                    }
                    answers.add(conflict, replaces: replaces)
                }
            }
        }
    }

    private func remark(about conflict: ValueMerge.Conflict, in text: Data) -> AnnotatedText.Remark {
        let path = conflict.path
        return .init(
            line: document.syntax.line(ofKey: path.root, in: text),
            text: "another process has changed `\(ShownText.key(path.text))` to \(shown(conflict.theirs, at: path))")
    }

    /// Asks whose value is stored.
    ///
    /// - Returns: whether it is the person's; nil to edit the text again.
    /// - Throws: `CommandError` without a terminal, and at the end of the input.
    private func ask(_ conflict: ValueMerge.Conflict) throws -> Bool? {
        let (path, context) = (conflict.path, invocation.context)
        let values = "yours \(shown(conflict.mine, at: path)), theirs \(shown(conflict.theirs, at: path))"
        let question = "another process has changed `\(ShownText.key(path.text))`, too: \(values)"
        while isatty(context.input) == 1, isatty(context.errors) == 1 {
            context.writeError(
                "\(invocation.program.name): \(question.printable). [m]ine, [t]heirs, or [e]dit again? ")
            switch try context.readLine()?.lowercased() {
            case "m", "mine": return true
            case "t", "theirs": return false
            case "e", "edit": return nil
            case nil: throw CommandError("\(question); nothing has changed")
            default: break
            }
        }
        throw CommandError("\(question); nothing has changed")
    }

    private func shown(_ value: StoredValue?, at path: ValuePath) -> String {
        value.map { ShownText.line(ValueText.line(place.secrets.shown($0, at: path)), longest: 200) } ?? "(not set)"
    }
}

extension Runner {
    /// Opens the values in the person's editor.
    func edit() throws -> Outcome {
        if wantsJSON { throw UsageError("`edit` does not support --json") }
        var session = try EditSession(place, invocation)
        return try session.run()
    }
}

/// The file that the editor opens. Only its owner may read it and the files that an editor puts beside it.
struct PrivateFile {
    private let folder: String
    private let name: String
    var path: String { "\(folder)/\(name)" }

    /// Makes a folder in `$TMPDIR`, else in /tmp.
    init(named name: String, _ context: ProcessContext) throws(CommandError) {
        let parent = context.variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent.absolutePath)/prefs-edit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError("\(parent): cannot make a folder: \(String(cString: strerror(errno)))")
        }
        self.name = name
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ bytes: Data) throws { try ExportFile.write(bytes, to: path) }

    func read() throws -> Data { try ExportFile.read(path) }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

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
        let status = try ChildProcess.run(
            ["/bin/sh", "-c", script, command, path], environment, withDefault: Self.signals)
        if status == 0 { return }
        let reason = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
        throw CommandError("the editor ended with \(reason): \(command)")
    }
}

// These platforms start no programs.
#if os(tvOS) || os(watchOS)
    enum ChildProcess {
        static func run(
            _ words: [String], _ environment: [String: String], withDefault signals: [Int32] = []
        ) throws(CommandError) -> Int32 {
            throw CommandError("this platform starts no programs")
        }
    }
#else
    /// A program that this one waits for.
    enum ChildProcess {
        /// Runs a program. It handles these signals in their default way, and the others as this process does.
        ///
        /// - Returns: its status, as `waitpid` tells it.
        static func run(
            _ words: [String], _ environment: [String: String], withDefault signals: [Int32] = []
        ) throws(CommandError) -> Int32 {
            var attributes = initialized(posix_spawnattr_init)
            defer { posix_spawnattr_destroy(&attributes) }
            var set = sigset_t()
            sigemptyset(&set)
            for number in signals { sigaddset(&set, number) }
            posix_spawnattr_setsigdefault(&attributes, &set)
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
