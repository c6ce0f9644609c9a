import Foundation
import PersistentPreferences

/// The event loop of the form: handles keys, signals and the changes of other processes.
struct Editor {
    /// A lone Escape byte is the Escape key if nothing follows within this time.
    private static let escapeTimeoutMilliseconds: Int32 = 50

    private let place: Place
    private let command: String
    private let terminal: Terminal
    private var decoder = KeyDecoder()
    /// True if the terminal was large enough for the last screen.
    private var isShown = false
    private var painter = ScreenPainter(ProcessContext.process.outputStyle)

    /// - Parameter command: the name of the command, for the title line.
    init(_ place: Place, command: String) throws {
        self.place = place
        self.command = command
        terminal = try Terminal()
    }

    /// Returns when the user quits or a signal ends the program.
    ///
    /// - Throws: the error of the first read, or of the terminal.
    mutating func run() throws {
        let terminal = terminal
        let (observation, failure) = try place.observe { terminal.wake() }
        defer { withExtendedLifetime(observation) {} }
        var controller = try EditorController(place, note: failure?.shortText)
        defer { terminal.leave() }
        guard try terminal.enter() else { return }
        repeat { try show(&controller) } while try handle(terminal.wait(milliseconds: wait), &controller)
    }

    private var wait: Int32? { decoder.hasPendingEscape ? Self.escapeTimeoutMilliseconds : nil }

    private mutating func show(_ controller: inout EditorController) throws {
        controller.model.size = Terminal.size
        isShown = controller.model.size.isSufficient
        try terminal.write(painter.paint(EditorScreen(controller.model, command: command, title: place.title)))
    }

    /// - Returns: false if the editor is to end.
    private mutating func handle(_ event: Terminal.Event, _ controller: inout EditorController) throws -> Bool {
        switch event {
        case .bytes(let bytes): return press(decoder.keys(from: bytes), &controller)
        case .timeout: return press(decoder.keysAfterTimeout(), &controller)
        case .woken: controller.refresh()
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

    private mutating func press(_ keys: [Key], _ controller: inout EditorController) -> Bool {
        // Ignores keys while the form is not shown.
        for key in keys where isShown || key == .redraw {
            switch controller.press(key) {
            case .leave: return false
            case .redraw: painter.invalidate()
            case nil: break
            }
        }
        return true
    }
}
