import Testing

@testable import PrefsTool

/// The effect of keys and changes on the form, without a terminal.
@Suite struct EditorModelTests {
    /// A form as a class, so that keys can be pressed within an expectation.
    @dynamicMemberLookup private final class Form {
        private var model: EditorModel

        init(_ items: [EditorItem] = EditorModelTests.ofClass(), isOpen: Bool = false) {
            model = EditorModel(items, isOpen: isOpen)
        }

        subscript<Value>(dynamicMember path: WritableKeyPath<EditorModel, Value>) -> Value {
            get { model[keyPath: path] }
            set { model[keyPath: path] = newValue }
        }

        subscript<Value>(dynamicMember path: KeyPath<EditorModel, Value>) -> Value { model[keyPath: path] }

        @discardableResult
        func press(_ keys: Key...) -> EditorModel.Effect? { keys.map { model.press($0) }.last ?? nil }

        @discardableResult
        func type(_ text: String) -> EditorModel.Effect? { text.map { model.press(.text(String($0))) }.last ?? nil }

        func refresh(_ items: [EditorItem]) { model.refresh(items) }

        func finish(_ change: EditorChange, at path: ValuePath, _ items: [EditorItem]?) {
            model.finish(change, at: path, items)
        }

        func fail(_ change: EditorChange, _ message: String) { model.fail(change, message) }

        func ask(_ question: String, _ change: EditorChange) { model.ask(question, change) }

        /// The visible rows with their depth, and a mark at the selected one.
        var names: [String] {
            model.rows.enumerated().map { index, row in
                (index == model.selection ? ">" : "") + String(repeating: ".", count: row.depth) + row.item.name
            }
        }

        var markedNames: [String] { model.rows.filter { model.marked.contains($0.path) }.map { $0.item.path.text } }
    }

    private static func path(_ name: String, _ steps: ValuePath.Step...) -> ValuePath { ValuePath(name, steps) }

    private static func item(_ name: String, _ content: EditorItem.Content, choices: [String] = []) -> EditorItem {
        EditorItem(path: path(name), name: name, typeName: "Int", content: content, choices: choices)
    }

    /// Five values of a class.
    private static func ofClass(_ changed: [Int: EditorItem.Content] = [:]) -> [EditorItem] {
        let contents: [EditorItem.Content] = [
            .isDefault("10"), .set("x"), .notSet, .unfit("5", state: "integer"), .ofLayer("7", name: "environment"),
        ]
        return contents.enumerated().map { item("k\($0)", changed[$0] ?? $1) }
    }

    /// `{A: {list: [1, 2], name: "Ann"}, b: true, ref}`
    private static func ofDomain(name: String = "Ann", second: String = "2") -> [EditorItem] {
        func leaf(_ path: ValuePath, _ name: String, _ type: PropertyListType, _ text: String) -> EditorItem {
            EditorItem(
                path: path, name: name, typeName: type.rawValue, content: .set(text), type: type,
                choices: type == .boolean ? ["true", "false"] : [])
        }
        let list = path("A", .key("list"))
        let elements = [
            leaf(list.appending(.index(0)), "[0]", .integer, "1"),
            leaf(list.appending(.index(1)), "[1]", .integer, second),
        ]
        let members = [
            EditorItem(
                path: list, name: "list", typeName: "array", content: .container(count: 2), type: .array,
                children: elements),
            leaf(path("A", .key("name")), "name", .string, name),
        ]
        return [
            EditorItem(
                path: path("A"), name: "A", typeName: "dictionary", content: .container(count: 2), type: .dictionary,
                children: members),
            leaf(path("b"), "b", .boolean, "true"),
            EditorItem(path: path("ref"), name: "ref", typeName: "reference", content: .set("?")),
        ]
    }

    // MARK: - A class

    @Test func keysReturnEffects() {
        let form = Form()
        #expect(form.press(.text("r")) == nil && form.statusMessage == "nothing is stored")
        #expect(form.press(.down) == nil && form.statusMessage == nil)
        #expect(form.press(.text("r")) == .change(.remove(Self.path("k1"))))
        #expect(form.press(.delete) == .change(.remove(Self.path("k1"))))
        #expect(form.press(.text("u")) == .change(.undo))
        #expect(form.press(.redraw) == .redraw)
        // Keys of domains have no effect.
        #expect(form.press(.text("a"), .text("i"), .text("t"), .right, .left) == nil && form.mode == .rows)
        #expect(form.press(.text("q")) == .leave)
    }

    @Test func anyKeyTurnsThePagesOfTheHelp() {
        for (rows, pages) in [(24, 1), (12, 2)] {
            for isOpen in [false, true] {
                let form = Form(isOpen: isOpen)
                form.size = EditorScreen.Size(columns: 40, rows: rows)
                form.press(.text("?"))
                for page in 0..<pages {
                    #expect(form.mode == .help(page: page))
                    form.press(.text("q"))
                }
                #expect(form.mode == .rows)
            }
        }
    }

    @Test func keysMoveTheSelection() {
        let form = Form(
            (0..<100).map { Self.item("\($0)", .set("")) })
        form.size = EditorScreen.Size(columns: 80, rows: 24)
        let moves: [(Key, Int)] = [
            (.down, 1), (.tab, 2), (.pageDown, 22), (.pageUp, 2), (.up, 1), (.pageUp, 0), (.up, 99), (.pageDown, 99),
            (.down, 0), (.backTab, 99), (.home, 0), (.end, 99), (.pageUp, 79),
        ]
        for (key, row) in moves {
            form.press(key)
            #expect(form.selection == row, "\(key)")
        }
        form.size = EditorScreen.Size(columns: 40, rows: 12)
        form.press(.pageUp)
        #expect(form.selection == 75)
        let empty = Form([], isOpen: true)
        for key: Key in [
            .up, .down, .pageUp, .pageDown, .end, .enter, .right, .left, .text("r"), .text("t"), .text("i"),
        ] {
            #expect(empty.press(key) == nil && empty.selection == 0 && empty.mode == .rows, "\(key)")
        }
    }

    @Test func anUnchangedValueIsNotStored() {
        let form = Form()
        for row in 0..<5 {
            #expect(form.press(.enter) == nil && form.field != nil)
            let text = form.selected?.text ?? "-"
            let isStored = row > 1
            #expect(form.press(.enter) == (isStored ? .change(.set(Self.path("k\(row)"), text, as: nil)) : nil))
            #expect((form.field != nil) == isStored)
            form.press(.escape, .down)
        }
    }

    @Test func aRejectedTextStaysUntilTheEditIsCancelled() {
        let form = Form()
        form.press(.enter, .text("x"))
        let change = EditorChange.set(Self.path("k0"), "10x", as: nil)
        #expect(form.press(.enter) == .change(change))
        form.fail(change, "no")
        #expect(form.field?.text == "10x" && form.errorMessage == "no")
        form.press(.text("y"))
        #expect(form.field?.text == "10xy" && form.errorMessage == "no")
        form.press(.escape)
        #expect(form.field == nil && form.errorMessage == nil && form.selected?.content == .isDefault("10"))
        // The error of a failed reset is shown until the next move.
        form.fail(.remove(Self.path("k0")), "no")
        #expect(form.errorMessage == "no")
        form.press(.down)
        #expect(form.errorMessage == nil)
        form.fail(.undo, "nothing to undo")
        #expect(form.errorMessage == nil && form.statusMessage == "nothing to undo")
    }

    @Test func onlyTheChangesOfOthersAreMarked() {
        let form = Form()
        let items = Self.ofClass([0: .set("11"), 2: .set("[]")])
        form.finish(.set(Self.path("k0"), "11", as: nil), at: Self.path("k0"), items)
        #expect(form.items == items && form.markedNames == ["k2"])
        form.refresh(items)
        #expect(form.markedNames == ["k2"])
        // A key that does not move the selection keeps the mark.
        form.press(.enter, .escape)
        #expect(form.markedNames == ["k2"])
        form.press(.up)
        #expect(form.markedNames == [])
    }

    @Test func anEditOutlivesTheChangesOfOthers() {
        let form = Form()
        form.press(.down, .enter, .text("y"))
        form.refresh(Self.ofClass([1: .set("theirs")]))
        #expect(form.field?.text == "xy" && form.markedNames == ["k1"] && form.selected?.text == "theirs")
        let change = EditorChange.set(Self.path("k1"), "xy", as: nil)
        #expect(form.press(.enter) == .change(change))
        // The edit ends even if the file cannot be read after the write.
        form.finish(change, at: Self.path("k1"), nil)
        #expect(form.field == nil && form.markedNames == [])
    }

    @Test func aChangeIsMadeAfterConfirmation() {
        let form = Form()
        form.press(.down, .enter, .text("y"))
        let change = EditorChange.set(Self.path("k1"), "xy", as: nil)
        for (key, effect) in [
            (Key.text("n"), EditorModel.Effect?.none), (.escape, nil), (.enter, nil), (.text("y"), .confirmed(change)),
        ] {
            form.ask("Sure? (y/n)", change)
            #expect(form.press(key) == effect)
            // The text stays until the change is made.
            #expect(form.field?.text == "xy")
        }
    }

    @Test func aValueWithChoicesIsPicked() {
        let form = Form([Self.item("k", .isDefault("one"), choices: ["one", "two", "three"])])
        form.press(.enter)
        guard case .pick(let picker) = form.mode else { return #expect(Bool(false), "no picker") }
        #expect(picker.options == ["one", "two", "three"] && picker.chosen == "one" && picker.title == "k")
        #expect(form.press(.down, .enter) == .change(.set(Self.path("k"), "two", as: nil)))
        #expect(form.mode == .rows)
        #expect(form.press(.enter, .up, .enter) == .change(.set(Self.path("k"), "three", as: nil)))
        #expect(form.press(.enter, .text("T"), .text("t"), .enter) == .change(.set(Self.path("k"), "three", as: nil)))
        #expect(form.press(.enter, .end, .home, .pageDown, .escape) == nil && form.mode == .rows)
        form.refresh([Self.item("k", .set("two"), choices: ["one", "two", "three"])])
        #expect(form.press(.enter, .enter) == nil, "the choice is unchanged")
        // The choice belongs to the value that was selected, even if another program removes that value.
        form.press(.enter, .up)
        form.refresh([Self.item("other", .set("one"), choices: ["one"])])
        #expect(form.press(.enter) == .change(.set(Self.path("k"), "one", as: nil)))
    }

    // MARK: - A domain

    @Test func containersOpenAndClose() {
        let form = Form(Self.ofDomain(), isOpen: true)
        #expect(form.names == [">A", "b", "ref"])
        form.press(.enter)
        #expect(form.names == [">A", ".list", ".name", "b", "ref"])
        form.press(.down, .right)
        #expect(form.names == ["A", ">.list", "..[0]", "..[1]", ".name", "b", "ref"])
        form.press(.down, .down, .left)
        #expect(form.names == ["A", ">.list", "..[0]", "..[1]", ".name", "b", "ref"])
        form.press(.left, .left, .left)
        #expect(form.names == [">A", "b", "ref"])
        // An inner container stays open or closed.
        form.press(.right)
        #expect(form.names == [">A", ".list", ".name", "b", "ref"])
        form.press(.end, .enter)
        #expect(form.mode == .rows && form.statusMessage == "a reference of a keyed archive cannot be edited")
    }

    @Test func aSearchFindsValuesInsideClosedContainers() {
        let form = Form(Self.ofDomain(), isOpen: true)
        form.press(.text("/"))
        form.type("aN")
        #expect(form.names == ["A", ".list", ">.name", "b", "ref"])
        form.press(.enter)
        #expect(form.mode == .rows)
        form.press(.text("n"))
        #expect(form.names[2] == ">.name", "the only match")
        form.press(.home, .text("/"))
        form.type("list")
        form.press(.escape)
        #expect(form.mode == .rows && form.names[0] == ">A")
        form.press(.text("/"))
        form.type("2zz")
        #expect(form.statusMessage == "no match" && form.names[0] == ">A")
        form.press(.backspace, .backspace)
        #expect(form.names == ["A", ".list", "..[0]", ">..[1]", ".name", "b", "ref"] && form.statusMessage == nil)
        form.press(.enter, .text("/"))
        form.type("e")
        form.press(.enter)
        #expect(form.names[4] == ">.name")
        form.press(.text("n"))
        #expect(form.names[5] == ">b", "its value is true")
        form.press(.text("n"), .text("n"))
        #expect(form.names[4] == ">.name", "after `ref`")
        form.press(.text("N"))
        #expect(form.names[6] == ">ref")
    }

    @Test func anEntryIsAddedByNameAndType() {
        let form = Form(Self.ofDomain(), isOpen: true)
        form.press(.text("a"))
        form.type("new")
        form.press(.enter, .text("i"))
        #expect(form.press(.enter) == .change(.add(name: "new", to: nil, .integer)))
        form.press(.text("i"))
        form.type("x")
        form.press(.enter)
        #expect(form.press(.enter) == .change(.add(name: "x", to: Self.path("A"), .string)))
        form.press(.text("i"), .enter)
        #expect(form.mode == .rows, "no name")
        form.press(.enter, .down, .right, .text("i"))
        #expect(form.press(.enter) == .change(.add(name: nil, to: Self.path("A", .key("list")), .string)))
        form.press(.down, .text("a"))
        #expect(form.press(.escape) == nil && form.mode == .rows)
        form.press(.text("i"))
        #expect(form.statusMessage == "only a dictionary or an array has entries; a adds one beside this")
    }

    @Test func aNewValueIsEditedAtOnce() {
        let form = Form(Self.ofDomain(), isOpen: true)
        let path = Self.path("A", .key("z"))
        var items = Self.ofDomain()
        items[0].children.append(
            EditorItem(path: path, name: "z", typeName: "integer", content: .set("0"), type: .integer))
        items[0].content = .container(count: 3)
        form.finish(.add(name: "z", to: Self.path("A"), .integer), at: path, items)
        #expect(form.names == ["A", ".list", ".name", ">.z", "b", "ref"] && form.field?.text == "0")
        #expect(form.markedNames == [])
        #expect(form.press(.text("7"), .enter) == .change(.set(path, "07", as: .integer)))
    }

    @Test func theTypeIsChosen() {
        let form = Form(Self.ofDomain(), isOpen: true)
        form.press(.down, .text("t"))
        #expect(form.press(.enter) == nil, "the type is unchanged")
        form.press(.text("t"), .text("s"))
        #expect(form.press(.enter) == .change(.retype(Self.path("b"), to: .string)))
        #expect(form.press(.enter, .down, .enter) == .change(.set(Self.path("b"), "false", as: .boolean)))
    }

    @Test func innerChangesOfOthersAreMarkedWhereTheyAreSeen() {
        let form = Form(Self.ofDomain(), isOpen: true)
        form.refresh(Self.ofDomain(second: "3"))
        #expect(form.markedNames == ["A"])
        form.press(.home, .enter, .down, .enter)
        #expect(form.markedNames == [])
        form.refresh(Self.ofDomain(name: "Bob"))
        #expect(form.markedNames == ["A.list[1]", "A.name"])
    }

    @Test func aRemovedValueIsSeenWhileItIsEdited() {
        let form = Form(Self.ofDomain(), isOpen: true)
        form.press(.enter, .down, .down, .enter, .text("!"))
        var items = Self.ofDomain()
        items[0].children.removeLast()
        form.refresh(items)
        #expect(form.names == ["A", ".list", ">.name", "b", "ref"] && form.selected?.content == .notSet)
        #expect(form.field?.text == "Ann!" && form.markedNames.contains("A.name"))
        form.refresh(items)
        #expect(form.names == ["A", ".list", ">.name", "b", "ref"])
        form.press(.escape)
        #expect(form.names == ["A", ".list", ">b", "ref"])
        form.refresh([])
        #expect(form.names == [] && form.selected == nil)
    }
}
