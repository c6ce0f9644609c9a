import Foundation
import PersistentPreferences
import PrefsTestSet

extension TestSetRunner {
    /// The form that fills the terminal.
    func edit() -> Outcome {
        guard !invocation.wantsJSON else {
            return .failure("`edit` has no output, and no --json", code: Outcome.usageErrorCode, asJSON: true)
        }
        guard Terminal.isAvailable else {
            let remedy = "`prefs set` needs none"
            return .failure(
                "`edit` needs a terminal on standard input and output; \(remedy)", code: Outcome.usageErrorCode,
                asJSON: false)
        }
        do {
            var editor = try Editor(prefs, title: "\(prefs.key)  \(file ?? target.name)", file: file)
            try editor.run()
            return Outcome()
        } catch let error as PrefsError {
            return failed(error)
        } catch {
            return failed("\(error)")
        }
    }
}

/// Waits for keys, signals and the changes of others, and has the model, the preferences and the terminal follow.
struct Editor {
    /// A lone Escape byte is the key, if nothing follows for so long.
    private static let escapeTimeoutMilliseconds: Int32 = 50

    private let prefs: PrefsTestSet
    private let keys: [HarnessKey]
    private let title: String
    private let file: String?
    private let terminal: Terminal
    private var model: EditorModel
    private var decoder = KeyDecoder()
    /// Whether the terminal was large enough, the last time.
    private var isShown = false
    private var painter = ScreenPainter(Style(of: STDOUT_FILENO))
    /// Why the file cannot be read, since the last look at it.
    private var readError: String?

    /// - Parameters:
    ///   - title: where the preferences are, for the user.
    ///   - file: of the preferences; nil if they are in none.
    init(_ prefs: PrefsTestSet, title: String, file: String?) throws {
        self.prefs = prefs
        self.title = title
        self.file = file
        keys = HarnessKey.all(of: prefs)
        model = EditorModel(keys.map { EditorRow(key: $0) })
        terminal = try Terminal()
    }

    /// Returns when the user leaves, or the program is told to end.
    ///
    /// - Throws: what keeps it from reading the preferences at first, or from showing them.
    mutating func run() throws {
        let terminal = terminal
        let observation = prefs.onChange { _ in terminal.wake() }
        defer { observation.cancel() }
        // A file that becomes malformed is no change of a value. If it cannot be watched, `onChange` has said so.
        let watch = file.flatMap { try? FileSurroundings.watch(path: $0) { terminal.wake() } }
        defer { withExtendedLifetime(watch) {} }
        let failure = prefs.lastError
        if let failure {
            guard case .notWatched = failure else { throw failure }
        }
        let contents = try contents().get()
        model = EditorModel(
            zip(keys, contents).map { EditorRow(key: $0, content: $1) },
            statusMessage: readError ?? failure?.description)
        defer { terminal.leave() }
        guard try terminal.enter() else { return }
        repeat { try show() } while try handle(terminal.wait(milliseconds: wait))
    }

    private var wait: Int32? { decoder.hasPendingEscape ? Self.escapeTimeoutMilliseconds : nil }

    private mutating func show() throws {
        let size = terminal.size
        isShown = size.isSufficient
        try terminal.write(painter.paint(EditorScreen(model, title: title, size: size)))
    }

    /// - Returns: false at the end.
    private mutating func handle(_ event: Terminal.Event) throws -> Bool {
        switch event {
        case .bytes(let bytes): return press(decoder.keys(from: bytes))
        case .timeout: return press(decoder.keysAfterTimeout())
        case .woken: refresh()
        case .signal(let number): return try handle(number)
        case .closed: return false
        }
        return true
    }

    private mutating func handle(_ signal: Int32) throws -> Bool {
        painter.invalidate()
        return switch signal {
        case SIGTSTP: try terminal.suspend()
        case SIGCONT: try terminal.enter()
        case SIGWINCH: true
        default: false
        }
    }

    private mutating func press(_ keys: [Key]) -> Bool {
        // Nobody types where nothing is shown.
        for key in keys where isShown || key == .redraw {
            guard let effect = model.press(key) else { continue }
            switch effect {
            case .leave: return false
            case .redraw: painter.invalidate()
            case .store, .reset, .unset: perform(effect)
            }
        }
        return true
    }

    // MARK: - Preferences

    private mutating func perform(_ effect: EditorModel.Effect) {
        var errorMessage: String?
        do {
            switch effect {
            case .store(let text, let row): prefs[keys[row].name] = try ValueText.parse(text, as: keys[row].type)
            case .reset(let row): prefs[keys[row].name] = PrefsTestSet.defaultValues[keys[row].name]
            case .unset(let row): prefs[keys[row].name] = nil
            case .redraw, .leave: return
            }
            switch prefs.lastError {
            case .some(let error) where error.wasStored: model.statusMessage = error.shortText
            case let error: errorMessage = error?.description
            }
        } catch {
            errorMessage = "\(error)"
        }
        switch contents() {
        case .success(let contents): model.finish(effect, errorMessage: errorMessage, contents)
        case .failure(let error):
            model.finish(effect, errorMessage: errorMessage, nil)
            model.statusMessage = error.description
        }
    }

    private mutating func refresh() {
        let former = readError
        switch contents() {
        case .success(let contents):
            model.refresh(contents)
            if let readError {
                model.statusMessage = readError
            } else if former != nil {
                model.statusMessage = "the file can be read again"
            }
        case .failure(let error): model.statusMessage = error.shortText
        }
    }

    /// What the form is to show. Of a malformed file, the newest known state.
    private mutating func contents() -> Result<[EditorRow.Content], PrefsError> {
        let values = prefs.values
        let error = prefs.lastError.flatMap { $0.wasStored ? nil : $0 }
        readError = error?.shortText
        if let error, !error.returnsKnownState { return .failure(error) }
        return .success(keys.map { EditorRow.content(values[$0.name], of: $0) })
    }
}

extension PrefsError {
    /// For one line of a terminal: of a malformed file what is wrong, and where, without its path.
    fileprivate var shortText: String {
        switch self {
        case .damaged(let file) where file.quarantinedAs != nil:
            "stored; the damaged file was quarantined beside it"
        case .damaged(let file), .notOurs(let file): String(file.place.dropFirst(file.path.count + 2))
        default: description
        }
    }

    /// Whether a write that reports this is stored all the same.
    fileprivate var wasStored: Bool {
        if case .durabilityUnconfirmed = self { true } else { isWarning }
    }
}
