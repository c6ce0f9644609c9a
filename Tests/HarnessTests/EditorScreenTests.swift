import PersistentPreferences
import TestSupport
import Testing

@testable import PrefsTool

/// The layout of the form at any size and in any state, and its output on a terminal.
@Suite struct EditorScreenTests {
    private static let wide = "日本語 👍 e\u{301} " + String(repeating: "long ", count: 30)

    private static func path(_ name: String) -> ValuePath { ValuePath(name, []) }

    private static func item(_ name: String, _ content: EditorItem.Content) -> EditorItem {
        EditorItem(path: path(name), name: name, typeName: "[String: Int]?", content: content)
    }

    /// Successive states that a user and another process produce.
    private static var models: [EditorModel] { modelsOfClass + modelsOfDomain }

    private static var modelsOfClass: [EditorModel] {
        var items = [
            item("Integer Value", .isDefault("10")), item("String Value", .set(wide)), item("Array Value", .notSet),
            item("Dictionary Value", .unfit("a\nb", state: "string")), item("Date Value", .ofLayer("2026", name: wide)),
        ]
        var model = EditorModel(items, isOpen: false)
        var models = [model]
        func press(_ keys: Key...) {
            for key in keys {
                _ = model.press(key)
                models.append(model)
            }
        }
        press(.enter, .text("x"))
        model.fail(.set(path("Integer Value"), "10x", as: nil), String(repeating: wide + "\u{1B}[2J", count: 5))
        models.append(model)
        items[0].content = .set(wide)
        items[4].content = .notSet
        model.refresh(items)
        models.append(model)
        press(.escape, .text("?"), .escape, .escape, .down, .enter, .home, .right, .text("ß"), .end)
        model.ask(wide + "? (y/n)", .undo)
        models.append(model)
        press(.text("n"), .escape, .end, .text("/"), .text("l"), .text("\u{1B}"), .escape, .pageUp)
        model.fail(.remove(path("Integer Value")), "not stored")
        model.statusMessage = "\(wide) is unreadable"
        models.append(model)
        return models
    }

    /// Containers in containers, with names and values that are too long.
    private static var modelsOfDomain: [EditorModel] {
        func nested(_ depth: Int, _ path: ValuePath) -> EditorItem {
            let children = (0..<(depth == 0 ? 0 : 3)).map {
                nested(depth - 1, path.appending(.key("\(wide)\u{202E}\($0)")))
            }
            return EditorItem(
                path: path, name: "\(wide)\u{202E}\(depth)", typeName: depth == 0 ? "string" : "dictionary",
                content: depth == 0 ? .set(wide) : .container(count: 3), type: depth == 0 ? .string : .dictionary,
                children: children)
        }
        var model = EditorModel((0..<9).map { nested($0 % 6, path("\($0)")) }, isOpen: true)
        var models = [model]
        for key: Key in [
            .down, .down, .enter, .down, .right, .down, .right, .down, .enter, .text("x"), .escape, .text("a"),
            .text("日"),
            .text("\u{9B}"), .enter, .down, .end, .escape, .text("t"), .escape, .text("?"), .escape, .escape, .escape,
            .end,
            .text("/"), .text("0"), .enter, .pageDown, .pageUp, .home,
        ] {
            _ = model.press(key)
            models.append(model)
        }
        return models + [EditorModel([], isOpen: true, statusMessage: nil)]
    }

    private static let sizes = [(80, 24), (40, 12), (41, 13), (71, 12), (72, 12), (200, 50)]

    private static func screen(_ model: EditorModel, _ columns: Int, _ rows: Int, title: String) -> EditorScreen {
        var model = model
        model.size = EditorScreen.Size(columns: columns, rows: rows)
        return EditorScreen(model, command: "prefs edit", title: title)
    }

    @Test(arguments: sizes) func everyScreenFitsTheTerminal(columns: Int, rows: Int) {
        for model in Self.models {
            let screen = Self.screen(model, columns, rows, title: "Root  /some/where/" + Self.wide)
            let texts = screen.lines.map { $0.map(\.text).joined() }
            #expect(texts.count == rows)
            #expect(texts.allSatisfy { DisplayWidth.of($0) <= columns && $0.printable == $0 }, "\(texts)")
            var showsHelp = false
            var hasPrompt = false
            switch model.mode {
            case .help: showsHelp = true
            case .search, .name: hasPrompt = true
            default: break
            }
            #expect(texts.contains { $0.hasPrefix(">") } == (!showsHelp && !model.rows.isEmpty))
            #expect((screen.cursor != nil) == (model.field != nil || hasPrompt))
            if let cursor = screen.cursor {
                #expect((0..<columns).contains(cursor.column))
                #expect(hasPrompt ? cursor.row == rows - 1 : (1..<rows - 1).contains(cursor.row))
                // A wide character before the cursor is not cut.
                #expect(!texts[cursor.row].isEmpty)
            }
            if model.errorMessage != nil, case .rows = model.mode {
                #expect(texts.contains { $0.hasPrefix(">") && $0.contains("rejected") })
            }
        }
    }

    @Test(arguments: sizes) func theTerminalShowsThePaintedScreen(columns: Int, rows: Int) {
        var painter = ScreenPainter(.plain)
        var terminal = VirtualScreen(columns: columns, rows: rows)
        terminal.feed(ScreenPainter.enterSequence.utf8)
        for model in Self.models {
            let screen = Self.screen(model, columns, rows, title: "title")
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
            let screen = Self.screen(Self.models[0], columns, rows, title: "t")
            let texts = screen.lines.map { $0.map(\.text).joined() }
            #expect(texts.count <= rows && texts.allSatisfy { DisplayWidth.of($0) <= columns })
            #expect("prefs edit needs 40 x 12; Ctrl-C quits".hasPrefix(texts.joined(separator: " ").prefix(5)))
        }
    }

    /// Only the rows near the selected one are drawn.
    @Test func theSelectedRowOfManyIsVisible() {
        var model = EditorModel((0..<200).map { Self.item("k\($0)", .set("\($0)")) }, isOpen: false)
        for (columns, rows) in Self.sizes {
            model.size = EditorScreen.Size(columns: columns, rows: rows)
            for key: Key in [.home, .down, .pageDown, .pageDown, .up, .end, .pageUp, .backTab] {
                _ = model.press(key)
                let screen = EditorScreen(model, command: "prefs edit", title: "t")
                let texts = screen.lines.map { $0.map(\.text).joined() }
                #expect(texts.count { $0.hasPrefix(">") } == 1)
                #expect(texts.contains { $0.hasPrefix("> k\(model.selection) ") })
                let shown = texts.filter { $0.hasPrefix("  k") }.count + 1
                // Half of a row with two lines may be visible, too.
                let isHalf = !model.size.isTable && rows.isMultiple(of: 2)
                #expect((0...(isHalf ? 1 : 0)).contains(shown - model.size.formRows(200)))
            }
        }
    }

    @Test func theHelpFitsTheSmallestTerminal() {
        for isOpen in [false, true] {
            var model = EditorModel([], isOpen: isOpen)
            model.size = EditorScreen.Size.minimum
            let pages = EditorHelp.pages(model)
            #expect(pages.count == 2)
            #expect(pages.allSatisfy { $0.count <= 10 && $0.allSatisfy { DisplayWidth.of($0) <= 40 } }, "\(pages)")
            model.size = EditorScreen.Size(columns: 80, rows: 24)
            #expect(EditorHelp.pages(model).count == 1)
        }
    }
}
