import Foundation
import PersistentPreferences
import PrefsTestSet
import TestSupport
import Testing

@testable import PrefsTool

/// Keys change the stored values, without a terminal: of a class and of any domain.
@Suite struct EditorControllerTests {
    /// A property of each kind that the form treats differently.
    private final class Sample: PersistentPrefs, @unchecked Sendable {
        enum Mode: String, Codable, CaseIterable { case fast, slow }

        @Pref(in: 8...72) var size = 12
        @Pref var mode = Mode.fast
        @Pref var nickname: String?
    }

    /// A form over a source, as a class, so that keys can be pressed within an expectation.
    private final class Form {
        private var controller: EditorController
        private let folder: TemporaryFolder
        let url: URL

        init(_ content: [String: Any], ofClass: Bool = false) throws {
            folder = try TemporaryFolder()
            url = folder.file("p.plist")
            try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0).write(to: url)
            controller = try EditorController(
                ofClass
                    ? ClassSource(
                        Sample(key: "Sample", store: PropertyListFileStore(url: url)), title: "t", file: url.path)
                    : DomainSource(try Roots(url: url), name: "n"))
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

        /// What the file holds, as a text that does not depend on the order of keys.
        func stored() throws -> String {
            let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
            return try PropertyListVetter.value(of: list, forKey: "").json
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
        let form = try Form(["Sample": ["size": 99, "nickname": 5]], ofClass: true)
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
        var controller = try EditorController(ClassSource(prefs, title: "t", file: nil))
        #expect(controller.model.rows[0].item.content == .ofLayer("20", name: "site"))
        for key: Key in [.enter, .text("1"), .backspace, .backspace, .text("1"), .enter] { _ = controller.press(key) }
        #expect(controller.model.errorMessage?.contains("site") == true, "\(controller.model)")
    }

    // MARK: - A domain

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

    /// An element has no place of its own, because its index changes with those before it.
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
            if form.model.selection > 0 { #expect(form.model.errorMessage?.hasPrefix("expected a") == true) }
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
        let damaged =
            "<plist version=\"1.0\"><dict><key>A</key><dict><key>k</key><integer>3</integr></dict></dict></plist>"
        try Data(damaged.utf8).write(to: form.url)
        form.refresh()
        #expect(form.status?.contains("expected </integer>, found </integr>") == true)
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

    @Test func aReferenceIsRemovedAfterConfirmation() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("archive.plist")
        let archive = NSKeyedArchiver(requiringSecureCoding: true)
        archive.encode("x" as NSString, forKey: NSKeyedArchiveRootObjectKey)
        archive.finishEncoding()
        try archive.encodedData.write(to: url)
        var controller = try EditorController(DomainSource(try Roots(url: url), name: "n"))
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
