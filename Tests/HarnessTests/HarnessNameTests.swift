import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists
import TestSupport
import Testing

@testable import PrefsTool

/// A path that names a key is that key, in every command and at every level; a new name with dots is not guessed.
@Suite(.waits) final class HarnessNameTests: HarnessSuite {
    // MARK: - Paths that lead back

    /// Dots, brackets, slashes, colons, blanks, backslashes, quotes, line ends, and nothing.
    private static let names = [
        "plain", "a.b", "a", "b", "[python]", "[", "\\[", "[0]", "a[0]", "x/y", "@types/node", "x:y", "a/b:c",
        "two words", " ",
        "back\\", "back\\.x", "back", "\\", "\\\\", "\\.", ".", "..", "", "a\\.b", "q\"q", "[\"a\"]", "[\"a",
        "one\ntwo",
        "e\u{301}", "\u{202E}", "a\u{200B}b", "tail ", " head", "a=b", "-x", "C:\\dir", "*.txt", "**/.git",
        "com.example.app", "0", "+", "[+]",
    ]

    /// Each name at the top, each in a dictionary, and pairs of names that a path could confuse.
    private static let content: [String: StoredValue] = {
        var number: Int64 = 0
        func next() -> StoredValue {
            number += 1
            return .integer(number)
        }
        var content = Dictionary(uniqueKeysWithValues: names.map { ($0, next()) })
        content["inner"] = .dictionary(Dictionary(uniqueKeysWithValues: names.map { ($0, next()) }))
        for name in ["a", "back", "\\", "", "[", "x.y"] {
            content[name] = .dictionary(
                Dictionary(uniqueKeysWithValues: ["b", "x", "", ".", "a.b", "[0]", "\\"].map { ($0, next()) }))
        }
        content["list"] = .array([.dictionary(["k.v": next(), "": next()]), next()])
        return content
    }()

    /// All paths of scalars, and their values.
    private static func leaves(_ value: StoredValue, at path: ValuePath) -> [(ValuePath, StoredValue)] {
        if let members = value.dictionary, !members.isEmpty {
            return members.flatMap { leaves($1, at: path.appending(.key($0))) }
        }
        guard let elements = value.array else { return [(path, value)] }
        return elements.enumerated().flatMap { leaves($1, at: path.appending(.index($0))) }
    }

    /// The entries of a file, without the tool: a run of it takes longer, and thousands of states are asked for.
    private func stored(_ file: String) throws -> [String: StoredValue] {
        let bytes = try Data(contentsOf: URL(filePath: file))
        let isJSON = file.hasSuffix(".json")
        let value = isJSON ? try ExportFormat.value(ofJSON: bytes) : try PropertyListCoder.decode(bytes).value
        return try #require(value.dictionary)
    }

    private func json(_ file: String) throws -> String { StoredValue.dictionary(try stored(file)).json }

    @Test(arguments: ["n.json", "n.plist"]) func aPathThatIsShownLeadsBack(name: String) throws {
        let (file, other) = (home.path(name), home.path("other." + name.dropFirst(2)))
        // No command creates an empty key at the top.
        let content = Self.content.filter { name == "n.json" || !$0.key.isEmpty }
        try home.write(Data(StoredValue.dictionary(content).json.utf8), to: "n.json")
        if name != "n.json" { #expect(try prefs("import", "-f", file, home.path("n.json")) == Printed()) }
        let all = content.flatMap { Self.leaves($1, at: ValuePath($0)) }
        let named = all.map { path, value in (path, text: path.text(in: content), number: ValueText.line(value)) }
        let shown = try prefs("show", "-f", file).output.split(separator: "\n")
        for (path, text, _) in named where !path.steps.contains(where: \.isIndex) {
            #expect(shown.contains { $0.hasPrefix(text.printable + " ") }, "\(text)")
        }
        // Each number has one of these digits, and no name has one.
        for digit in 1...9 {
            let lines = named.filter { $0.number.contains("\(digit)") }.map { "\($0.text.printable): \($0.number)" }
            let found = try prefs("find", "-f", file, "\(digit)").output.split(separator: "\n").map(String.init)
            #expect(Set(found) == Set(lines) && found.count == lines.count)
        }
        let numbers = try prefs(["get", "-f", file, "--"] + named.map(\.text))
        #expect(numbers == Printed(named.map { "\($0.number)\n" }.joined()))
        // Each command changes the place that it names, and no other.
        var expected = content
        for (index, path) in all.map(\.0).enumerated() {
            let text = path.text(in: content)
            let new = StoredValue.integer(1_000 + Int64(index))
            expected[path.root] = try path.value(expected[path.root], with: new)
            #expect(try prefs("set", "-f", file, "--", text, ValueText.line(new)) == Printed(), "\(text)")
            #expect(try stored(file) == expected, "\(text)")
            if path.steps.contains(where: \.isIndex) || path.root.isEmpty { continue }
            for command in ["cp", "mv"] {
                #expect(try prefs(command, "-f", file, "-f", other, "--", text) == Printed(), "\(command) \(text)")
                var now = try stored(file)
                #expect(path.value(in: try stored(other)) == new)
                #expect((path.value(in: now) == nil) == (command == "mv"))
                if command == "mv" { now[path.root] = try path.value(now[path.root], with: new) }
                #expect(now == expected)
                if command == "mv" {
                    // Without the value, the plain text may lead elsewhere.
                    #expect(try prefs("mv", "-f", other, "-f", file, "--", path.quotedText) == Printed())
                } else {
                    #expect(try prefs("unset", "-f", other, "--", path.quotedText) == Printed())
                }
            }
            #expect(try prefs("unset", "-f", file, "--", text) == Printed(), "\(text)")
            #expect(path.value(in: try stored(file)) == nil)
            #expect(try prefs("set", "-f", file, "--", path.quotedText, ValueText.line(new)) == Printed())
        }
        #expect(try stored(file) == expected)
        let exported = try prefs("export", "-f", file, "--format", "json").output
        #expect(try ExportFormat.value(ofJSON: Data(exported.utf8)).dictionary == expected)
        #expect(
            try Set(home.folder.names()).isSubset(of: [
                "n.json", "n.plist", "other.plist", "other.json", ".config", ".local",
            ]))
    }

    // MARK: - New names with dots

    private static let editor = #"{"editor.tabSize":4,"[python]":{"editor.tabSize":4},"on":{"a":1}}"#
    private static let hint =
        "have dots, and none is `editor.fontSize`; did you mean `editor.tabSize`?; a new key of that name is "
    private static let rejected: [(words: [String], message: String)] = [
        (["set", "editor.fontSize", "14"], "the keys of this file \(hint)written 'editor\\.fontSize'"),
        (["cp", "on.a", "editor.fontSize"], "the keys of this file \(hint)written 'editor\\.fontSize'"),
        (["mv", "editor.tabSize", "editor.fontSize"], "the keys of this file \(hint)written 'editor\\.fontSize'"),
        (
            ["mv", "editor.tabSize", "editor.tabSize.fontSize"],
            "the keys of this file have dots, and none is `editor.tabSize.fontSize`; a new key of that name is "
                + "written 'editor\\.tabSize\\.fontSize'"
        ),
        (
            ["set", "[python].editor.fontSize", "14"],
            "the keys of `\\[python]` \(hint)written '\\[python].editor\\.fontSize'"
        ),
        (
            ["set", "[python].editor.rulers[+]", "80"],
            "the keys of `\\[python]` have dots, and none is `editor.rulers`; a new key of that name is written "
                + "'\\[python].editor\\.rulers[+]'"
        ),
        (
            ["set", "files.exclude.x", "true"],
            "the keys of this file have dots, and none is `files.exclude.x`; a new key of that name is written "
                + "'files\\.exclude\\.x'"
        ),
    ]

    @Test(arguments: rejected.indices) func aNewNameWithDotsIsNotGuessed(index: Int) throws {
        let (command, message) = Self.rejected[index]
        let file = try home.write(Self.editor, to: "s.json").path
        let words = [command[0], "-f", file] + command.dropFirst()
        #expect(try prefs(words) == .failure(message + ", and --nest makes dictionaries"))
        #expect(try home.text("s.json") == Self.editor)
        // Both spellings of the message work.
        let new = try #require(message.split(separator: "'").last)
        let place = message.contains("python") ? "[python]" : nil
        let escaped = words.map {
            $0.contains(".fontSize") || $0.contains("rulers") || $0.contains("files.") ? String(new) : $0
        }
        #expect(try prefs(escaped) == Printed())
        let keys = try stored(file)
        let members = place.map { keys[$0]?.dictionary ?? [:] } ?? keys
        #expect(members.keys.contains { $0.contains(".") && $0 != "editor.tabSize" } && members["editor"] == nil)
        try home.write(Self.editor, to: "s.json")
        #expect(try prefs(words + ["--nest"]) == Printed())
        let nested = try stored(file)
        let parent = place.map { nested[$0]?.dictionary ?? [:] } ?? nested
        #expect(["editor", "files", "editor.tabSize"].contains { parent[$0]?.dictionary != nil })
    }

    /// An escape counts in the new part of a path only: `show` prints the names before it with escapes.
    @Test(arguments: [#"\[markdown].editor.tabSize"#, #"["[markdown]"].editor.tabSize"#, "[markdown].editor.tabSize"])
    func anEscapeBeforeTheNewNameMeansNothing(path: String) throws {
        let text = #"{"[markdown]": {"editor.wordWrap": "on"}, "it's": {"a.b": 1}, "nl\nx": {"a.b": 1}}"#
        let file = try home.write(text, to: "s.json").path
        #expect(try prefs("set", "-f", file, path, "4").errors.contains(#"written '\[markdown].editor\.tabSize', and"#))
        #expect(try home.text("s.json") == text)
        // The hints can be pasted into a shell.
        for (typed, key) in [("it's.c.d", "it's"), ("nl\nx.c.d", "nl\nx")] {
            let errors = try prefs("set", "-f", file, typed, "4").errors
            let hint = try #require(errors.split(separator: "written ").last?.split(separator: ", and --nest").first)
            let program = try Child.executable("prefs").path(percentEncoded: false)
            let script = "'\(program)' set -f '\(file)' \(hint) 4"
            let child = try Child(URL(filePath: "/bin/bash"), ["-c", script], environment: ["HOME": home.folder.path])
            #expect(Printed(try child.wait()) == Printed(), "\(script)")
            #expect(try stored(file)[key]?.dictionary?["c.d"] == .integer(4))
        }
    }

    /// Changes and questions name the place that `show` names.
    @Test func changesNameTheirPlace() throws {
        let file = try home.write(#"{"a.b":1,"a":{"b":{"k":1}}}"#, to: "a.json").path
        #expect(
            try prefs("set", "-f", file, #"["a"]["b"]["k"]"#, "7", "--dry-run")
                == Printed(#"~ ["a"]["b"]["k"]: 1 → 7"# + "\n"))
        let question = #"the dictionary `["a"]["b"]` would be removed; --force does it; nothing has changed"#
        #expect(try prefs("unset", "-f", file, #"["a"]["b"]"#) == .failure(question))
        #expect(try prefs("set", "-f", file, #"["k=v"]=3"#, #"["\"="]=4"#) == Printed())
        #expect(try prefs("get", "-f", file, "k=v", "\"=") == Printed("3\n4\n"))
    }

    /// `defaults write` does not nest either.
    @Test func theFirstNameWithDotsInADomainIsNotGuessed() throws {
        _ = try home.writeSuite("D", ["Entry": 1])
        let printed = try prefs("set", "-f", "D", "NSWindow.frame", "1 2")
        #expect(
            printed
                == .failure(
                    "UserDefaults suite \"D\" has no key `NSWindow.frame`; a new key of that name is written "
                        + "'NSWindow\\.frame', and --nest makes dictionaries"))
        #expect(try prefs("set", "-f", "D", #"NSWindow\.frame"#, "1 2") == Printed())
        #expect(try prefs("set", "-f", "D", "NSWindow.frame", "3 4") == Printed())
        #expect(try prefs("get", "-f", "D", "NSWindow.frame") == Printed("3 4\n"))
        #expect(try prefs("set", "-f", "D", "R.a.b", "1", "--nest") == Printed())
        #expect(try prefs("set", "-f", "D", "R.c.d", "1") == Printed())
    }

    // MARK: - Words of `cp` and `mv`

    @Test func valuesKeepTheirKeys() throws {
        let (a, b) = (home.path("a.plist"), home.path("b.plist"))
        try home.write(["com.apple.mouse.scaling": 2.5, "[x]": ["k.l": 1]] as [String: Any], to: "a.plist")
        try home.write(["n": 1], to: "b.plist")
        #expect(try prefs("mv", "-f", a, "-f", b, "com.apple.mouse.scaling") == Printed())
        #expect(try json(b) == #"{"com.apple.mouse.scaling":2.5,"n":1}"#)
        #expect(try prefs("cp", "\(a):[x]", home.path("new.json")) == Printed())
        #expect(try home.text("new.json") == "{\n  \"[x]\": {\n    \"k.l\": 1\n  }\n}\n")
        #expect(try prefs("mv", "\(a):[x].k.l", b) == Printed())
        #expect(try prefs("get", b, "[x]") == Printed("{\"k.l\":1}\n"))
        #expect(try json(a) == #"{"[x]":{}}"#)
    }

    /// Runs the tool in the home folder, so that words without a folder name its files.
    private func run(_ words: String...) throws -> Printed {
        let program = try Child.executable("prefs").path(percentEncoded: false)
        let script = #"cd "$HOME" && exec "$@""#
        return Printed(
            try Child(
                URL(filePath: "/bin/sh"), ["-c", script, "sh", program] + words,
                environment: ["HOME": home.folder.path]
            ).wait())
    }

    /// A package manifest has names with slashes and colons, and beside it are folders of such names.
    @Test func aWordIsAFileOnlyIfItExistsOrSaysSo() throws {
        let file = try home.write(#"{"dev": {"@types/node": "1"}, "deps": {}}"#, to: "package.json").path
        for folder in [nil, "deps.@types"] as [String?] {
            if let folder {
                try FileManager.default.createDirectory(
                    at: home.folder.file(folder), withIntermediateDirectories: false)
            }
            #expect(try run("mv", "-f", "package.json", "dev.@types/node", "deps.@types/node") == Printed())
            #expect(try json(file) == #"{"deps":{"@types/node":"1"},"dev":{}}"#)
            #expect(try run("mv", "-f", "package.json", "deps.@types/node", "deps.@types/a:b") == Printed())
            #expect(try run("mv", "-f", "package.json", "deps.@types/a:b", "dev.@types/node") == Printed())
            #expect(try json(file) == #"{"deps":{},"dev":{"@types/node":"1"}}"#)
            #expect(try run("cp", "-f", "package.json", "dev", "new.json:") == Printed())
            #expect(try json(home.path("new.json")) == #"{"dev":{"@types/node":"1"}}"#)
            try FileManager.default.removeItem(atPath: home.path("new.json"))
        }
    }

    /// Beside the file may lie others whose names its keys have.
    @Test func aKeyOfTheNamedFileIsNoOtherFile() throws {
        let file = try home.write(#"{"app:theme":"dark","b":1}"#, to: "set.json").path
        for name in ["app", "b"] { try home.write(#"{"theme":"OTHER"}"#, to: name) }
        #expect(try run("mv", "-f", "set.json", "app:theme", "theme") == Printed())
        #expect(
            try run("cp", "-f", "set.json", "theme", "b")
                == .failure(
                    "the integer `b` would become a value of type string; --force does it; nothing has changed"))
        #expect(try run("mv", "-f", "set.json", "theme", "app:theme") == Printed())
        #expect(try json(file) == #"{"b":1}"#)
        #expect(try home.text("app") == #"{"theme":"dark"}"# && home.text("b") == #"{"theme":"OTHER"}"#)
        try FileManager.default.createDirectory(at: home.folder.file("folder"), withIntermediateDirectories: false)
        let printed = try run("mv", "-f", "set.json", "b", "folder")
        #expect(printed == Printed(errors: "prefs: `folder` is not a file\n", code: 64))
    }

    /// A move keeps the text of both files.
    @Test func aMoveKeepsComments() throws {
        let text =
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><!-- c --><dict><key>a</key><true/></dict></plist>\n"
        let (from, to) = (try home.write(text, to: "c.plist").path, try home.write(#"{"q": 0}"#, to: "t.json").path)
        #expect(try prefs("mv", "\(from):a", "\(to):q2", "--dry-run") == Printed("+ q2: true\n- a: true\n"))
        #expect(try home.text("t.json") == #"{"q": 0}"# && home.text("c.plist") == text)
        #expect(try prefs("mv", "\(from):a", "\(to):q2") == Printed())
        #expect(try home.text("t.json") == #"{"q": 0, "q2": true}"#)
        #expect(
            try home.text("c.plist")
                == "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><!-- c --><dict></dict></plist>\n")
        #expect(try prefs("undo", "-f", from) == Printed("+ a: true\n") && home.text("c.plist") == text)
    }

    /// A move asks for both files before it changes the first one. Nothing can be removed from a pipe.
    @Test func aRefusedRemovalStoresNothing() throws {
        try home.write(#"{"q": 0}"#, to: "t.json")
        let printed = try home.bash(#"prefs mv -f <(echo '{"a": 1}') -f t.json a"#)
        #expect(printed.code == 64 && printed.errors.contains(" is a pipe; only `-f -` can be written"), "\(printed)")
        #expect(try home.text("t.json") == #"{"q": 0}"#)
    }

    /// Two elements of one array would be taken from a changed array.
    @Test func elementsMoveOneByOne() throws {
        let (a, b) = (try home.write(#"{"l": [1, 2, 3]}"#, to: "a.json").path, home.path("b.json"))
        let end =
            "are in one array, and the removal of the first moves the other; "
            + "remove the first in a command of its own"
        let message = "`l[0]` and `l[1]` \(end)"
        #expect(try prefs("mv", "-f", a, "-f", b, "l[0]", "l[1]") == .failure(message))
        #expect(try home.text("a.json") == #"{"l": [1, 2, 3]}"#)
        // Elements of two arrays, and what is inside of two elements, stay where they are.
        let text = #"{"w": {"l": [1, 2], "m": [{"x": 1}, {"x": 2, "y": 3}], "n": 4}}"#
        try home.write(text, to: "c.json")
        let removal = ["unset", "-f", home.path("c.json"), "w.l[0]", "w.m[0].x", "w.m[1].x", "w.n"]
        #expect(try prefs(removal) == Printed())
        #expect(try home.text("c.json") == #"{"w": {"l": [2], "m": [{}, {"y": 3}]}}"#)
        #expect(
            try prefs("unset", "-f", home.path("c.json"), "w.m[1]", "w.m[1]")
                == .failure("`w.m[1]` is named twice; name it once"))
        let inside = "`w.m[1]` and `w.m[0].x` \(end)"
        #expect(try prefs("unset", "-f", home.path("c.json"), "w.m[1]", "w.m[0].x") == .failure(inside))
    }

    /// Behind the removed element, an index would name its neighbor.
    @Test(arguments: [("t[0]", "t[1].z"), ("t[0]", "t[0].z"), ("t[1]", "t[0].z")])
    func anElementIsNotMovedIntoItsArrayAtADepth(_ from: String, _ to: String) throws {
        let text = #"{"t": [{"a": 1}, {"b": 2}, {"c": 3}], "u": [{}]}"#
        let path = try home.write(text, to: "m.json").path
        let end = "the removal of the first moves the other; remove the first in a command of its own"
        #expect(try prefs("mv", "-f", path, from, to) == .failure("`\(from)` and `\(to)` are in one array, and \(end)"))
        #expect(try home.text("m.json") == text)
        #expect(try prefs("mv", "-f", path, "t[0]", "u[0].z") == Printed())
        #expect(try prefs("mv", "-f", path, "t[0]", "t[+]") == Printed())
        let moved = try JSONSerialization.jsonObject(with: home.bytes("m.json")) as? NSDictionary
        #expect(moved == ["t": [["c": 3], ["b": 2]], "u": [["z": ["a": 1]]]])
    }

    // MARK: - Names of files

    /// `defaults` takes the path without the extension.
    @Test func aPathWithoutItsExtensionIsThatFile() throws {
        try home.write(["a": 1], to: "com.example.update.plist")
        let path = home.path("com.example.update")
        #expect(try prefs("get", "-f", path, "a") == Printed("1\n"))
        #expect(try prefs("set", "-f", path, "a", "2") == Printed())
        #expect(try prefs("get", path, "a") == Printed("2\n"))
        #expect(!FileManager.default.fileExists(atPath: path))
        // A file of exactly that name comes first, and a format asks for a new one.
        #expect(try prefs("set", "-f", path, "--format", "json", "a", "3") == Printed())
        #expect(try prefs("get", "-f", path, "a") == Printed("3\n"))
    }

    /// Extensions do not hide what a file contains.
    @Test func theContentTellsTheFormat() throws {
        let strings = try home.write(#"{"a": "b"}"#, to: "Localizable.strings").path
        #expect(try prefs("set", "-f", strings, "a", "c") == Printed())
        #expect(try home.text("Localizable.strings") == #"{"a": "c"}"#)
        #expect(try prefs("doctor", "-f", strings).code == 0)
        let marked = "\u{FEFF}// mine\n{\"a\": 1}\n"
        let file = try home.write(marked, to: "settings").path
        #expect(try prefs("set", "-f", file, "a", "2") == Printed())
        #expect(try home.text("settings") == marked.replacing("1", with: "2"))
        // These are property lists in a format that is not read.
        for (name, text) in [("e.plist", "{ }"), ("o.plist", "{ a = 1; }"), ("q", "{\n  \"a b\" = (1);\n}\n")] {
            let path = try home.write(text, to: name).path
            let message =
                "\(path): property lists in the OpenStep format, such as .strings files, are not read; "
                + "`plutil -convert xml1` of macOS or of a Swift toolchain converts them"
            if name != "q" { #expect(try prefs("get", "-f", path, "a") == .failure(message)) }
            #expect(try prefs("set", "-f", path, "a", "1").code == 1)
            #expect(try home.text(name) == text)
        }
    }

    /// Programs of Apple platforms read the texts YES and NO as Booleans.
    @Test(arguments: ["YES", "NO"]) func aTextLikeABooleanIsTold(text: String) throws {
        _ = try home.writeSuite("D", ["Entry": 1])
        let message = "prefs: flag: string (-t TYPE stores another type)\n"
        #expect(try prefs("set", "-f", "D", "flag", text) == Printed(errors: message))
        #expect(try prefs("get", "-f", "D", "flag", "--type") == Printed("string\n"))
        #expect(try prefs("set", "-f", "D", "other", text, "-t", "string") == Printed())
    }
}
