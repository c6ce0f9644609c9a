import Foundation
import PersistentPreferences
import PrefsTestSet
import Testing
import TestSupport

@testable import PrefsTool
import PrefsJSON
import PrefsLayers

/// Keys change the stored values, without a terminal: of a class and of any file.
@Suite struct EditorControllerTests {
    /// A property of each kind that the form treats differently.
    private final class Sample: PersistentPrefs, @unchecked Sendable {
        enum Mode: String, Codable, CaseIterable { case fast, slow }

        @Pref(.in(8...72)) var size = 12
        @Pref var mode = Mode.fast
        @Pref var nickname: String?

        static var program: Program {
            Program(
                name: "myapp prefs",
                make: { root, store in Sample(key: root, values: nil, store: store ?? InMemoryStore()) })
        }
    }

    /// A property of a struct, and a Boolean.
    private final class Desk: PersistentPrefs, @unchecked Sendable {
        struct Size: Codable, Equatable { var height = 400, width = 600 }
        struct Window: Codable, Equatable {
            var isFull = false
            var size = Size()
            var title = "Main"
        }

        @Pref(.help("The main window.")) var window = Window()
        @Pref var wraps = true
        @Pref(.in(8...72), .help("In points.")) var fontSize = 12
        @Pref var byName: [String: Int] = [:]
    }

    /// A form over a file, as a class, so that keys can be pressed within an expectation.
    private final class Form {
        private var controller: EditorController
        private let folder: TemporaryFolder
        let url: URL

        /// - Parameter make: makes the preferences in the file; nil for all entries.
        convenience init(_ content: [String: Any], of make: ((any PrefsStore) -> PersistentPrefs)? = nil) throws {
            let bytes = try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
            try self.init(bytes, name: "p.plist", of: make)
        }

        init(_ bytes: Data, name: String, of make: ((any PrefsStore) -> PersistentPrefs)? = nil) throws {
            folder = try TemporaryFolder()
            url = folder.file(name)
            try bytes.write(to: url)
            let (target, program) = (Target.file(url.path), Sample.program)
            controller = try EditorController(
                make.map { try Place(settings: $0(target.store(of: program)), in: program, at: target) }
                    ?? Place(entriesOf: target, in: program))
        }

        var model: EditorModel { controller.model }
        var status: String? { model.statusMessage }

        /// Presses keys. A text is typed.
        func press(_ keys: Any...) {
            for key in keys {
                if let key = key as? Key { _ = controller.press(key) }
                for letter in key as? String ?? "" { _ = controller.press(.text(String(letter))) }
            }
        }

        func refresh() { controller.refresh() }

        /// The contents of the file, as a text that does not depend on the order of keys.
        func stored() throws -> String {
            let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
            return try PropertyListVetter.value(of: list, forKey: "").json
        }

        func text() throws -> String { try String(contentsOf: url, encoding: .utf8) }

        /// The note about the selected value, in the line above the keys.
        var note: String {
            let screen = EditorScreen(model, command: "prefs edit", title: "t")
            return screen.lines[model.size.rows - 2].map(\.text).joined()
        }

        /// Changes the file as another program.
        func others(_ root: String, _ value: Any) throws {
            let value = try PropertyListVetter.value(of: value, forKey: root)
            _ = try Roots(url: url).updateEntries { $0[root] = value }
        }

        var rows: [String] {
            model.rows.enumerated().map { ($0 == model.selection ? ">" : "") + "\($1.item.name): \($1.item.text)" }
        }
    }

    // MARK: - A class

    @Test func aClassHasDefaultsChoicesAndConstraints() throws {
        let form = try Form(["Sample": ["size": 99, "nickname": 5]]) { Sample(key: "Sample", store: $0) }
        #expect(
            form.model.rows.map(\.item.content) == [
                .unfit("99", state: "invalid"), .isDefault("fast"), .unfit("5", state: "integer"),
            ])
        #expect(form.model.rows.map(\.item.choices) == [[], ["fast", "slow"], []])
        // The stored 99 cannot be stored again.
        form.press(Key.enter, Key.eraseLine, "14", Key.enter)
        #expect(
            form.model.mode
                == .confirm(
                    "u cannot restore the old `size`; go on? (y/n)", .set(ValuePath("size", []), "14", as: nil),
                    former: .edit(TextField("14"))))
        form.press("n", Key.enter, "y")
        #expect(try form.stored() == #"{"Sample":{"nickname":5,"size":14}}"#)
        form.press("u")
        #expect(form.status == "there is nothing to undo")
        form.press(Key.enter, "0", Key.enter)
        #expect(form.model.errorMessage?.contains("must be in 8...72") == true, "\(form.model.errorMessage ?? "-")")
        form.press(Key.escape, Key.down, Key.enter, Key.down, Key.enter)
        #expect(form.model.rows[1].item.content == .set("slow"))
        form.press("r")
        #expect(form.model.rows[1].item.content == .isDefault("fast"))
        #expect(try form.stored() == #"{"Sample":{"nickname":5,"size":14}}"#)
        form.press("u", "u", "u")
        #expect(form.model.rows[1].item.content == .isDefault("fast") && form.status == "there is nothing to undo")
    }

    @Test func aLayerThatCoversAValueIsNamed() throws {
        let folder = try TemporaryFolder()
        let file = PropertyListFileStore(url: folder.file("p.plist"))
        let prefs = Sample(key: "Sample", store: LayeredStore(file, above: [.values(["size": 20], name: "site")]))
        var controller = try EditorController(Place(settings: prefs, in: Sample.program))
        #expect(controller.model.rows[0].item.content == .ofLayer("20", name: "site"))
        for key: Key in [.enter, .text("1"), .backspace, .backspace, .text("1"), .enter] { _ = controller.press(key) }
        #expect(controller.model.errorMessage?.contains("site") == true, "\(controller.model)")
    }

    @Test func aStructIsATreeOfItsFields() throws {
        let form = try Form(["Desk": ["window": ["title": "Big"]]]) { Desk(key: "Desk", store: $0) }
        #expect(form.rows[0].hasPrefix(">window: {") && form.rows.count == 4)
        form.press(Key.right)
        // A value that is not stored is shown as the program reads it.
        #expect(form.rows[1] == "isFull: false" && form.rows[3] == "title: Big" && form.rows.count == 7)
        form.press(Key.down, Key.down, Key.enter, Key.down, Key.down, Key.enter, "0", Key.enter)
        #expect(form.rows[4] == ">width: 6000")
        let edited = #"{"isFull":false,"size":{"height":400,"width":6000},"title":"Big"}"#
        #expect(try form.stored() == #"{"Desk":{"window":\#(edited)}}"#)
        // A text that is not a number stays in the form.
        form.press(Key.enter, "x", Key.enter)
        #expect(form.model.errorMessage?.contains("expected Int") == true, "\(form.model.errorMessage ?? "-")")
        form.press(Key.escape, "u")
        #expect(try form.stored() == #"{"Desk":{"window":{"title":"Big"}}}"#)
        #expect(form.rows[4] == "width: 600")
        // Another program changes another field in the meantime.
        form.press(Key.end, Key.home, Key.right, Key.down, Key.down, Key.down, Key.down, Key.enter, "1")
        try form.others("Desk", ["window": ["title": "Theirs"]])
        form.press(Key.enter)
        #expect(form.model.errorMessage == "another program has changed `window`; nothing is stored")
        #expect(try form.stored() == #"{"Desk":{"window":{"title":"Theirs"}}}"#)
        // The default of a field comes from the default of the whole struct.
        form.press(Key.escape, Key.home, "r")
        #expect(try form.stored() == "{}" && form.rows[5] == "title: Main")
    }

    @Test func spaceTogglesABooleanOnly() throws {
        let form = try Form(["Desk": ["fontSize": 14]]) { Desk(key: "Desk", store: $0) }
        form.press(Key.down, " ")
        #expect(try form.stored() == #"{"Desk":{"fontSize":14,"wraps":false}}"#)
        form.press(" ", Key.down, " ", Key.home, Key.right, " ", Key.down, " ")
        #expect(form.rows[1] == ">isFull: true")
        let window = #"{"isFull":true,"size":{"height":400,"width":600},"title":"Main"}"#
        #expect(try form.stored() == #"{"Desk":{"fontSize":14,"window":\#(window),"wraps":true}}"#)
        let entries = try Form(["A": true, "b": "true"])
        entries.press(" ", Key.down, " ")
        #expect(try entries.stored() == #"{"A":false,"b":"true"}"#)
        entries.press("u")
        #expect(try entries.stored() == #"{"A":true,"b":"true"}"#)
    }

    @Test func aLineTellsOfTheSelectedKey() throws {
        let form = try Form([:]) { Desk(key: "Desk", store: $0) }
        form.press(Key.down)
        #expect(form.note == "wraps: Bool, default true")
        form.press(Key.down)
        #expect(form.note == "fontSize: Int in 8...72, default 12; In points.")
        form.press(Key.down)
        #expect(form.note == "byName: [String: Int], default {}")
        form.press(Key.home)
        #expect(form.note.hasPrefix("window: Window, default {"))
        form.press(Key.right, Key.down)
        #expect(form.note == "window.isFull: boolean, default false; The main window.")
        form.press(Key.down, Key.right, Key.down)
        #expect(form.note == "window.size.height: integer, default 400; The main window.")
        let entries = try Form(["A": ["list": [1]]])
        entries.press(Key.right, Key.down, Key.right, Key.down)
        #expect(entries.note == "A.list[0]: integer")
    }

    // MARK: - A file

    @Test func eachKindOfChangeIsUndone() throws {
        let form = try Form(["A": ["list": [1, 2], "name": "Ann"], "b": true])
        let original = try form.stored()
        var states = [original]
        func expect(_ state: String) throws {
            #expect(try form.stored() == state)
            states.append(state)
        }
        // Edits, in a dictionary and in an array.
        form.press(Key.enter, Key.end, Key.up, Key.enter, "e", Key.enter)
        try expect(#"{"A":{"list":[1,2],"name":"Anne"},"b":true}"#)
        form.press(Key.up, Key.enter, Key.down, Key.down, Key.enter, "0", Key.enter)
        try expect(#"{"A":{"list":[1,20],"name":"Anne"},"b":true}"#)
        // Removes an element; the next one takes its place.
        form.press(Key.up, "r")
        try expect(#"{"A":{"list":[20],"name":"Anne"},"b":true}"#)
        #expect(form.rows[2] == ">[0]: 20")
        // Adds an element with its value.
        form.press("a", "f", Key.enter)
        try expect(#"{"A":{"list":[20,0],"name":"Anne"},"b":true}"#)
        form.press(Key.eraseLine, "2.5", Key.enter)
        try expect(#"{"A":{"list":[20,2.5],"name":"Anne"},"b":true}"#)
        // Changes a type, of a container too.
        form.press("t", "s", Key.enter)
        try expect(#"{"A":{"list":[20,"2.5"],"name":"Anne"},"b":true}"#)
        form.press(Key.left, "t", "b", Key.enter)
        try expect(#"{"A":{"list":false,"name":"Anne"},"b":true}"#)
        // Adds at the top, and removes a dictionary.
        form.press(Key.end, "a", "c", Key.enter, "d", "d", "d", Key.enter)
        try expect(#"{"A":{"list":false,"name":"Anne"},"b":true,"c":{}}"#)
        form.press(Key.home, "r")
        try expect(#"{"b":true,"c":{}}"#)
        for state in states.dropLast().reversed() {
            form.press("u")
            #expect(form.status == nil)
            #expect(try form.stored() == state)
        }
        form.press("u")
        #expect(form.status == "there is nothing to undo")
    }

    @Test func anUndoRevertsNothingThatOthersHaveChanged() throws {
        let form = try Form(["A": ["name": "Ann", "size": 1], "list": ["a", "b"]])
        form.press(Key.enter, Key.down, Key.enter, "e", Key.enter, Key.down, Key.enter, "2", Key.enter)
        form.press(Key.end, Key.enter, Key.down, Key.enter, "x", Key.enter)
        #expect(try form.stored() == #"{"A":{"name":"Anne","size":12},"list":["ax","b"]}"#)
        try form.others("list", ["new", "ax", "b"])
        try form.others("A", ["name": "Anne", "size": 13, "other": true] as [String: Any])
        let now = #"{"A":{"name":"Anne","other":true,"size":13},"list":["new","ax","b"]}"#
        form.press("u")
        #expect(form.status == "another program has changed `list` since; it is not undone")
        form.press("u")
        #expect(form.status == "another program has changed `A.size` since; it is not undone")
        #expect(try form.stored() == now)
        // The change of another value is undone.
        form.press("u")
        #expect(try form.stored() == now.replacing("Anne", with: "Ann"))
    }

    /// The path of an element is not stable, because its index changes with the elements before it.
    @Test func anElementOfAnArrayThatOthersHaveChangedIsNotStored() throws {
        let form = try Form(["list": ["a", "b"]])
        form.press(Key.enter, Key.end, Key.enter, "!")
        try form.others("list", ["new", "a", "b"])
        form.press(Key.enter)
        #expect(form.model.errorMessage == "another program has changed `list`; nothing is stored")
        #expect(try form.stored() == #"{"list":["new","a","b"]}"#)
        // The form shows the new state. The text is stored where it is seen.
        #expect(form.model.selected?.text == "a" && form.model.field?.text == "b!")
        form.press(Key.enter)
        #expect(try form.stored() == #"{"list":["new","b!","b"]}"#)
    }

    @Test func typesAreKept() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0.125)
        let form = try Form([
            "boolean": true, "data": Data([1, 2]), "date": date, "float": 1.0, "integer": 1, "string": "1",
        ])
        #expect(
            form.rows == [
                ">boolean: true", "data: AQI=", "date: 2001-01-01T00:00:00.125Z", "float: 1.0", "integer: 1",
                "string: 1",
            ])
        let before = try form.stored()
        for rejected in ["", "x", "x", "x", "1.5"] {
            form.press(Key.enter, Key.eraseLine, rejected, Key.enter)
            // A Boolean is picked.
            if form.model.selection > 0 { #expect(form.model.errorMessage?.hasPrefix("expected ") == true) }
            form.press(Key.escape, Key.down)
        }
        #expect(try form.stored() == before)
        form.press(Key.enter, Key.eraseLine, "2", Key.enter, Key.up, Key.enter, "0", Key.enter, Key.up, Key.enter)
        form.press(Key.eraseLine, "3", Key.enter, Key.up, Key.enter, Key.eraseLine, "2026-11-21", Key.enter)
        let types = try #require(try Roots(url: form.url).entries().entries).mapValues(ValueText.typeName)
        #expect(
            types == [
                "boolean": "boolean", "data": "data", "date": "date", "float": "float", "integer": "integer",
                "string": "string",
            ])
        #expect(form.rows.suffix(4) == [">date: 2026-11-21T00:00:00Z", "float: 3.0", "integer: 10", "string: 2"])
    }

    @Test func aNameThatIsTakenOrInvalidIsRejected() throws {
        let form = try Form(["A": ["k": 1]])
        form.press("a", "A", Key.enter, Key.enter)
        #expect(form.model.errorMessage == "there is a `A` already")
        form.press("i", "k", Key.enter, Key.enter)
        #expect(form.model.errorMessage == "there is a `A.k` already")
        #expect(try form.stored() == #"{"A":{"k":1}}"#)
    }

    @Test func writingOverADamagedFileIsConfirmed() throws {
        let form = try Form(["A": ["k": 1]])
        try form.others("A", ["k": 2])
        // The file has no lines to correct.
        try Data("bplist00 damaged".utf8).write(to: form.url)
        form.refresh()
        #expect(form.status?.contains("binary") == true, "\(form.status ?? "-")")
        form.press(Key.enter, Key.down, Key.enter, "0", Key.enter)
        #expect(form.model.mode != .rows && form.model.field == nil)
        form.press("n")
        #expect(form.model.field?.text == "20")
        form.press(Key.enter, "y")
        #expect(form.status == "stored; the damaged file was quarantined beside it")
        #expect(try form.stored() == #"{"A":{"k":20}}"#)
        form.press("u")
        #expect(try form.stored() == #"{"A":{"k":2}}"#)
    }

    // MARK: - A typing error

    private static let faulty = """
        {
          "Desk": {
            "wraps": fals,
            "fontSize": 14
          }
        }

        """

    private static func makeDesk(_ store: any PrefsStore) -> PersistentPrefs { Desk(key: "Desk", store: store) }

    /// The correction is the only change of the file. It may be a class or any file.
    @Test(arguments: [true, false]) func aFileWithATypingErrorOpensAtItsLine(ofClass: Bool) throws {
        let form = try Form(
            Data(Self.faulty.utf8), name: "p.json", of: ofClass ? { Desk(key: "Desk", store: $0) } : nil)
        #expect(form.rows[2] == ">3:     \"wraps\": fals," && form.rows.count == 7)
        #expect(form.status?.hasPrefix("line 3, column 14: ") == true, "\(form.status ?? "-")")
        #expect(form.note.hasPrefix("line 3, column 14: ") && form.note.contains("Enter edits the line"))
        // Nothing is added, retyped or undone among lines.
        form.press("a", "t", "u")
        #expect(form.status == "only the lines of the file can be changed until it is correct")
        // A correction that is still wrong is stored, too, and the next error is named.
        form.press(Key.enter, Key.backspace, "e", Key.enter)
        #expect(form.rows[3] == ">4:     \"fontSize\": 14", "\(form.rows)")
        #expect(form.status?.hasPrefix("line 4, column ") == true, "\(form.status ?? "-")")
        form.press(Key.up, Key.enter, ",", Key.enter)
        let rows = form.rows
        #expect(ofClass ? rows[1] == "wraps: false" && rows[2] == "fontSize: 14" : rows == [">Desk: 2 entries"])
        #expect(form.model.marked.isEmpty && form.status == "stored; the damaged file was quarantined beside it")
        #expect(try form.text() == Self.faulty.replacing("fals", with: "false"))
    }

    @Test func aTypingErrorOfAnotherProgramShowsItsLineAndTheValuesAgain() throws {
        let form = try Form(Data(Self.faulty.replacing("fals", with: "true").utf8), name: "p.json", of: Self.makeDesk)
        // A text that is being edited does not replace a line.
        form.press(Key.down, Key.down, Key.enter, Key.eraseLine, "40")
        try Data(Self.faulty.utf8).write(to: form.url)
        form.refresh()
        form.press(Key.enter)
        #expect(form.model.errorMessage?.contains("line 3, column 14") == true, "\(form.model.errorMessage ?? "-")")
        #expect(try form.text() == Self.faulty && form.model.field?.text == "40")
        form.press(Key.escape)
        try Data(Self.faulty.replacing("fals", with: "false").utf8).write(to: form.url)
        form.refresh()
        #expect(form.status == "the file can be read again" && form.model.marked == [ValuePath("wraps")])
        form.press(Key.down)
        try Data(Self.faulty.utf8).write(to: form.url)
        form.refresh()
        #expect(form.rows[2] == ">3:     \"wraps\": fals," && form.model.marked.isEmpty)
        // The line is removed.
        form.press("r")
        #expect(try form.text() == Self.faulty.replacing("    \"wraps\": fals,\n", with: ""))
        // Values that have changed in the meantime are marked.
        #expect(
            form.rows[1] == "wraps: true" && form.rows[3] == ">byName: {}" && form.model.marked == [ValuePath("wraps")],
            "\(form.rows)")
    }

    @Test func aReferenceIsRemovedAfterConfirmation() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("archive.plist")
        let archive = NSKeyedArchiver(requiringSecureCoding: true)
        archive.encode("x" as NSString, forKey: NSKeyedArchiveRootObjectKey)
        archive.finishEncoding()
        try archive.encodedData.write(to: url)
        var controller = try EditorController(Place(entriesOf: .file(url.path), in: Sample.program))
        func press(_ keys: Key...) { for key in keys { _ = controller.press(key) } }
        press(.text("/"), .text("r"), .text("o"), .text("o"), .text("t"), .enter)
        #expect(controller.model.selected?.typeName == "reference")
        press(.text("r"))
        guard case .confirm(let question, _, _) = controller.model.mode else { return #expect(Bool(false)) }
        #expect(question == "u cannot restore the old `$top.root`; go on? (y/n)")
        press(.text("y"), .text("u"))
        #expect(controller.model.statusMessage == "there is nothing to undo")
    }
}
