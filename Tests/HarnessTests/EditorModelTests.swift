import PersistentPreferences
import PrefsTestSet
import Testing

@testable import PrefsTool

/// The effect of keys and changes on the form, without a terminal.
@Suite struct EditorModelTests {
    private static let contents: [EditorRow.Content] = [
        .isDefault("10"), .set("x"), .notSet, .ofOtherType("5", name: "integer"), .set("2026-11-21T00:00:00Z"),
    ]

    /// A form as a class, so that keys can be pressed within an expectation.
    @dynamicMemberLookup private final class Form {
        private var model: EditorModel

        init() {
            let keys = PrefsKey.all(of: PrefsTestSet(store: InMemoryStore()))
            model = EditorModel(zip(keys, contents).map { EditorRow(key: $0, content: $1) })
        }

        subscript<Value>(dynamicMember path: KeyPath<EditorModel, Value>) -> Value { model[keyPath: path] }

        func press(_ key: Key) -> EditorModel.Effect? { model.press(key) }

        func refresh(_ contents: [EditorRow.Content]) { model.refresh(contents) }

        func finish(_ effect: EditorModel.Effect, errorMessage: String?, _ contents: [EditorRow.Content]?) {
            model.finish(effect, errorMessage: errorMessage, contents)
        }
    }

    private func changed(_ row: Int, _ content: EditorRow.Content) -> [EditorRow.Content] {
        var contents = Self.contents
        contents[row] = content
        return contents
    }

    @Test func valuesAreClassifiedForTheForm() {
        let keys = PrefsKey.all(of: PrefsTestSet(store: InMemoryStore()))
        let defaults = PrefsTestSet.defaultValues
        for key in keys {
            #expect(EditorRow.content(nil, of: key, in: PrefsTestSet(store: InMemoryStore())) == .notSet)
            guard case .isDefault = EditorRow.content(defaults[key.name], of: key, in: PrefsTestSet(store: InMemoryStore())) else {
                Issue.record("\(key.name)")
                continue
            }
        }
        #expect(EditorRow.content(11, of: keys[0], in: PrefsTestSet(store: InMemoryStore())) == .set("11"))
        #expect(EditorRow.content("10", of: keys[0], in: PrefsTestSet(store: InMemoryStore())) == .ofOtherType("10", name: "string"))
        #expect(EditorRow.content(["One"], of: keys[2], in: PrefsTestSet(store: InMemoryStore())) == .set(#"["One"]"#))
        #expect(EditorRow.content([1], of: keys[2], in: PrefsTestSet(store: InMemoryStore())) == .ofOtherType("[1]", name: "array"))
    }

    @Test func keysReturnEffects() {
        let model = Form()
        #expect(model.press(.text("r")) == .reset(row: 0))
        #expect(model.press(.down) == nil)
        #expect(model.press(.text("u")) == .unset(row: 1))
        #expect(model.press(.redraw) == .redraw)
        #expect(model.press(.text("?")) == nil && model.showsHelp)
        #expect(model.press(.text("q")) == nil && !model.showsHelp)
        #expect(model.press(.text("q")) == .leave)
    }

    @Test func anUnchangedValueIsNotStored() {
        let model = Form()
        for row in 0..<5 {
            #expect(model.press(.enter) == nil && model.field != nil)
            let isStored = model.selected.content == .notSet || row == 3
            #expect(model.press(.enter) == (isStored ? .store(model.selected.text, row: row) : nil))
            #expect((model.field != nil) == isStored)
            _ = model.press(.escape)
            _ = model.press(.down)
        }
    }

    @Test func aRejectedTextStaysUntilTheEditIsCancelled() {
        let model = Form()
        _ = model.press(.enter)
        _ = model.press(.text("x"))
        #expect(model.press(.enter) == .store("10x", row: 0))
        model.finish(.store("10x", row: 0), errorMessage: "no", Self.contents)
        #expect(model.field?.text == "10x" && model.selected.errorMessage == "no")
        _ = model.press(.text("y"))
        #expect(model.field?.text == "10xy" && model.selected.errorMessage == "no")
        _ = model.press(.escape)
        #expect(model.field == nil && model.selected.errorMessage == nil && model.selected.content == .isDefault("10"))
        // The error of a failed reset is shown until the next move.
        model.finish(.reset(row: 0), errorMessage: "no", nil)
        #expect(model.selected.errorMessage == "no")
        _ = model.press(.down)
        #expect(model.rows[0].errorMessage == nil)
    }

    @Test func onlyTheChangesOfOthersAreMarked() {
        let model = Form()
        var contents = changed(0, .set("11"))
        contents[2] = .set("[]")
        model.finish(.store("11", row: 0), errorMessage: nil, contents)
        #expect(model.rows.map(\.content) == contents)
        #expect(model.rows.map(\.isMarked) == [false, false, true, false, false])
        model.refresh(contents)
        #expect(model.rows.map(\.isMarked) == [false, false, true, false, false])
        // A key that does not move the selection keeps the mark.
        _ = model.press(.enter)
        _ = model.press(.escape)
        #expect(model.rows[2].isMarked)
        _ = model.press(.up)
        #expect(!model.rows.contains { $0.isMarked })
    }

    @Test func anEditOutlivesTheChangesOfOthers() {
        let model = Form()
        _ = model.press(.down)
        _ = model.press(.enter)
        _ = model.press(.text("y"))
        model.refresh(changed(1, .set("theirs")))
        #expect(model.field?.text == "xy" && model.selected.isMarked && model.selected.text == "theirs")
        #expect(model.press(.enter) == .store("xy", row: 1))
        // The edit ends even if the file cannot be read after the write.
        model.finish(.store("xy", row: 1), errorMessage: nil, nil)
        #expect(model.field == nil && !model.selected.isMarked)
    }
}
