import Foundation
import PersistentPreferences

extension PrefsRunner {
    /// Shows the full-screen form until the user leaves.
    func edit() -> Outcome {
        guard !invocation.wantsJSON else {
            return .failure("`edit` does not support --json", code: Outcome.usageErrorCode, asJSON: true)
        }
        guard Terminal.isAvailable else {
            let remedy = "use `\(program.name) set` without one"
            return .failure(
                "`edit` needs a terminal on standard input and output; \(remedy)", code: Outcome.usageErrorCode,
                asJSON: false)
        }
        do {
            var editor = try Editor(prefs, title: "\(prefs.key)  \(file ?? storeName)", file: file)
            try editor.run()
            return Outcome()
        } catch let error as PrefsError {
            return failed(error)
        } catch {
            return failed("\(error)")
        }
    }
}

/// The event loop of the form: handles keys, signals and the changes of other processes.
struct Editor {
    /// A lone Escape byte is the Escape key if nothing follows within this time.
    private static let escapeTimeoutMilliseconds: Int32 = 50

    private let prefs: PersistentPrefs
    private let keys: [PrefsKey]
    private let title: String
    private let file: String?
    private let terminal: Terminal
    private var model: EditorModel
    private var decoder = KeyDecoder()
    /// True if the terminal was large enough for the last screen.
    private var isShown = false
    private var painter = ScreenPainter(Style(of: STDOUT_FILENO))
    /// Why the last read of the file failed.
    private var readError: String?

    /// - Parameters:
    ///   - title: where the preferences are stored, for the title line.
    ///   - file: the path of the preferences file; nil if there is none.
    init(_ prefs: PersistentPrefs, title: String, file: String?) throws {
        self.prefs = prefs
        self.title = title
        self.file = file
        keys = PrefsKey.all(of: prefs)
        model = EditorModel(keys.map { EditorRow(key: $0) })
        terminal = try Terminal()
    }

    /// Returns when the user quits or a signal ends the program.
    ///
    /// - Throws: the error of the first read, or of the terminal.
    mutating func run() throws {
        let terminal = terminal
        let observation = prefs.onChange { _ in terminal.wake() }
        defer { observation.cancel() }
        // A file that becomes malformed is not reported as a change. `onChange` reports a file that cannot be watched.
        let watch = file.flatMap { try? SidecarPaths.watch(path: $0) { terminal.wake() } }
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

    /// - Returns: false if the editor is to end.
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
        // Ignores keys while the form is not shown.
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
            case .store(let text, let row):
                prefs[keys[row].name] = try prefs.canonicalValue(ofText: text, forKey: keys[row].name)
            case .reset(let row): prefs[keys[row].name] = nil
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

    /// Reads the values to show. If the file is malformed, returns its newest known state.
    private mutating func contents() -> Result<[EditorRow.Content], PrefsError> {
        let values = prefs.values
        let error = prefs.lastError.flatMap { $0.wasStored ? nil : $0 }
        readError = error?.shortText
        if let error, !error.returnsKnownState { return .failure(error) }
        return .success(keys.map { EditorRow.content(values[$0.name], of: $0, in: prefs) })
    }
}

extension PrefsError {
    /// A description for one line of a terminal. Omits the path of a malformed file.
    fileprivate var shortText: String {
        switch self {
        case .damaged(let file) where file.quarantinedAs != nil:
            "stored; the damaged file was quarantined beside it"
        case .damaged(let file), .notOurs(let file): String(file.place.dropFirst(file.path.count + 2))
        default: description
        }
    }
}
