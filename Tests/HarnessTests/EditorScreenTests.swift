import PersistentPreferences
import PrefsTestSet
import TestSupport
import Testing

@testable import PrefsTool

/// The layout of the form at any size and in any state, and its output on a terminal.
@Suite struct EditorScreenTests {
    private static let wide = "日本語 👍 e\u{301} " + String(repeating: "long ", count: 30)

    /// Successive states that a user and another process produce.
    private static var models: [EditorModel] {
        let keys = PrefsKey.all(of: PrefsTestSet(store: InMemoryStore()))
        var contents: [EditorRow.Content] = [
            .isDefault("10"), .set(wide), .notSet, .ofOtherType("a\nb", name: "string"), .set("2026-11-21T00:00:00Z"),
        ]
        var model = EditorModel(zip(keys, contents).map { EditorRow(key: $0, content: $1) })
        var models = [model]
        func press(_ keys: Key...) {
            for key in keys {
                _ = model.press(key)
                models.append(model)
            }
        }
        press(.enter, .text("x"))
        model.finish(.store("10x", row: 0), errorMessage: String(repeating: wide + "\u{1B}[2J", count: 5), nil)
        models.append(model)
        contents[0] = .set(wide)
        contents[4] = .notSet
        model.refresh(contents)
        models.append(model)
        press(.escape, .text("?"), .escape, .down, .enter, .home, .right, .text("ß"), .end, .escape, .end)
        model.finish(.unset(row: 4), errorMessage: "not stored", nil)
        model.statusMessage = "\(wide) is unreadable"
        models.append(model)
        return models
    }

    private static let sizes = [(80, 24), (40, 12), (41, 13), (71, 12), (72, 12), (200, 60)]

    @Test(arguments: sizes) func everyScreenFitsTheTerminal(columns: Int, rows: Int) {
        for model in Self.models {
            let size = EditorScreen.Size(columns: columns, rows: rows)
            let screen = EditorScreen(model, title: "Root  /some/where/" + Self.wide, size: size)
            let texts = screen.lines.map { $0.map(\.text).joined() }
            #expect(texts.count == rows)
            #expect(texts.allSatisfy { DisplayWidth.of($0) <= columns && $0.printable == $0 }, "\(texts)")
            #expect(texts.contains { $0.hasPrefix(">") } != model.showsHelp)
            #expect((screen.cursor != nil) == (model.field != nil))
            if let cursor = screen.cursor {
                #expect((1..<rows - 1).contains(cursor.row) && (0..<columns).contains(cursor.column))
                // The edited line is completely visible.
                #expect(
                    texts[cursor.row].contains(model.field?.shown(width: columns - (columns < 72 ? 4 : 44)).text ?? "-")
                )
            }
            if model.selected.errorMessage != nil, !model.showsHelp {
                #expect(texts.contains { $0.hasPrefix(">") && $0.contains("rejected") })
            }
        }
    }

    @Test(arguments: sizes) func theTerminalShowsThePaintedScreen(columns: Int, rows: Int) {
        var painter = ScreenPainter(.plain)
        var terminal = VirtualScreen(columns: columns, rows: rows)
        terminal.feed(ScreenPainter.enterSequence.utf8)
        for model in Self.models {
            let size = EditorScreen.Size(columns: columns, rows: rows)
            let screen = EditorScreen(model, title: "title", size: size)
            terminal.feed(painter.paint(screen).utf8)
            let texts = screen.lines.map { line in
                String(line.map(\.text).joined().reversed().drop { $0 == " " }.reversed())
            }
            #expect(terminal.lines == texts)
            #expect(terminal.showsCursor == (screen.cursor != nil))
            if let cursor = screen.cursor { #expect((terminal.row, terminal.column) == (cursor.row, cursor.column)) }
            let again = painter.paint(screen)
            #expect(again == "")
        }
        terminal.feed(ScreenPainter.leaveSequence.description.utf8)
        #expect(!terminal.isAlternate && terminal.showsCursor && terminal.unknown.isEmpty && !terminal.hasColours)
    }

    @Test func aTooSmallTerminalShowsAMessage() {
        for (columns, rows) in [(39, 12), (40, 11), (10, 3), (1, 1)] {
            let screen = EditorScreen(Self.models[0], title: "t", size: EditorScreen.Size(columns: columns, rows: rows))
            let texts = screen.lines.map { $0.map(\.text).joined() }
            #expect(texts.count <= rows && texts.allSatisfy { DisplayWidth.of($0) <= columns })
            #expect("prefs edit needs 40 x 12; Ctrl-C quits".hasPrefix(texts.joined(separator: " ").prefix(5)))
        }
    }
}
