import Testing

@testable import PrefsTool

/// Text in columns, and the text field.
@Suite struct EditorTextTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}\u{323}", 1), ("日本語", 6), ("한", 2), ("\u{1112}\u{1161}", 2), ("👍", 2),
        ("👍🏽", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("ｆ", 2), ("…", 1), ("\u{200B}", 0), ("𠀀", 2),
        ("ﻻ", 1), ("ह\u{93F}", 1),
    ])
    func charactersHaveTheirTerminalWidth(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test func fitsTextIntoColumns() {
        #expect(DisplayWidth.fitted("abc", to: 5) == "abc  ")
        #expect(DisplayWidth.fitted("abcdef", to: 5) == "abcd…")
        #expect(DisplayWidth.fitted("日本語", to: 6) == "日本語")
        // Half a character does not fit.
        #expect(DisplayWidth.fitted("日本語", to: 4) == "日… ")
        #expect(DisplayWidth.shortened("/a/long/path.plist", to: 12) == "/a/l…h.plist")
        #expect(DisplayWidth.shortened("short", to: 12) == "short")
        #expect(DisplayWidth.lines("one two three", width: 7) == ["one two", "three"])
        #expect(DisplayWidth.lines("a sevenletters日本 b", width: 5) == ["a", "seven", "lette", "rs日", "本 b"])
    }

    @Test func editsAtTheCursor() {
        var field = TextField("日e\u{301}c")
        func press(_ keys: Key...) -> [String] {
            for key in keys where !field.press(key) { Issue.record("\(key)") }
            return [field.before, field.after]
        }
        #expect(press(.left) == ["日e\u{301}", "c"])
        #expect(press(.backspace) == ["日", "c"])
        #expect(press(.text("e"), .text("\u{323}")) == ["日e\u{323}", "c"])
        #expect(press(.left, .delete) == ["日", "c"])
        #expect(press(.home, .left, .backspace) == ["", "日c"])
        #expect(press(.right, .paste("x\ny")) == ["日x\ny", "c"])
        #expect(press(.end, .right, .delete) == ["日x\nyc", ""])
        #expect(press(.eraseLine, .backspace, .delete) == ["", ""])
        let moved = [field.press(.up), field.press(.tab)]
        #expect(moved == [false, false])
    }

    @Test func longTextScrolls() {
        var field = TextField("abcdefghijklmnopqrstuvwxyz")
        #expect(field.shown(width: 26) == ("…opqrstuvwxyz             ", 13))
        #expect(field.shown(width: 27) == ("abcdefghijklmnopqrstuvwxyz ", 26))
        #expect(field.shown(width: 10) == ("…vwxyz    ", 6))
        _ = field.press(.home)
        #expect(field.shown(width: 10) == ("abcdefghi…", 0))
        for _ in 1...8 { _ = field.press(.right) }
        #expect(field.shown(width: 10) == ("…ghijklmn…", 3))
        #expect(TextField("a\u{1B}\n").shown(width: 12) == (#"a\u{1b}\n   "#, 9))
    }

    /// The cursor is always visible and before the right character.
    @Test func theCursorIsAlwaysInSight() {
        let text = "ab日本語c\u{1B}defe\u{301}👍👍👍ghi\n日本語日本語xyz"
        for width in 26...40 {
            var field = TextField(text)
            _ = field.press(.home)
            while true {
                let shown = field.shown(width: width)
                #expect(DisplayWidth.of(shown.text) == width)
                #expect((0..<width).contains(shown.cursor))
                if field.after.isEmpty { break }
                let next = String(field.after.prefix(1)).printable
                var column = 0
                let behind = shown.text.drop { character in
                    defer { column += DisplayWidth.of(character) }
                    return column < shown.cursor
                }
                #expect(behind.hasPrefix(next) || DisplayWidth.of(next) > 2, "\(shown) \(field)")
                _ = field.press(.right)
            }
        }
    }
}
