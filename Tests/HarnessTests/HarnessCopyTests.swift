import Foundation
import TestSupport
import Testing

/// `cp` and `mv` of a value or of a part, in a file and between files.
@Suite(.waits) final class HarnessCopyTests: HarnessSuite {
    private var a: String { home.path("a.json") }
    private var b: String { home.path("b.plist") }

    override init() throws {
        try super.init()
        let text = """
            {
              "editor": {"size": 14.0, "theme": "dark"}, // mine
              "ports": [80, 443],
              "nothing": null,
              "date": {"$date": "2026-11-20T00:00:00Z"}
            }

            """
        try home.write(text, to: "a.json")
        try home.write(["n": 1, "editor": ["wraps": true]], to: "b.plist")
    }

    private func text() throws -> String { try home.text("a.json") }

    private func json(_ file: String, _ key: String) throws -> String {
        try prefs("get", "-f", file, key, "--json").output
    }

    @Test(arguments: ["cp", "mv"], ["x.json", "x.plist"])
    func aNewFileIsNotMoreOpenThanTheOneOfTheValue(_ command: String, name: String) throws {
        for (mode, umask, expected) in [
            ("600", "022", "600"), ("640", "022", "640"), ("666", "022", "644"), ("644", "077", "600"),
            ("444", "022", "644"),
        ] {
            let lines =
                "chmod \(mode) a.json; rm -f \(name); prefs cp a.json:editor keep.json --force; prefs \(command) a.json:editor \(name)"
            let printed = try home.bash(
                "umask \(umask); \(lines) && stat -c %a \(name); prefs cp keep.json:editor a.json --force")
            #expect(printed == Printed("\(expected)\n"), "\(mode)")
        }
    }

    @Test func aKeyIsRenamedInItsPlace() throws {
        #expect(try prefs("mv", "-f", a, "editor.size", "editor.fontSize") == Printed())
        #expect(try text().contains(#""editor": {"fontSize": 14.0, "theme": "dark"}, // mine"#))
        #expect(try prefs("mv", "\(a):ports", "\(a):open") == Printed())
        #expect(try text().contains(#""open": [80, 443]"#) && !text().contains("ports"))
        #expect(try prefs("cp", a, "open[0]", "open[+]") == Printed())
        #expect(try prefs("mv", a, "open[0]", "open[+]") == Printed())
        #expect(try prefs("get", a, "open") == Printed("[443,80,80]\n"))
        #expect(try prefs("undo", a) == Printed("~ open[0]: 443 → 80\n~ open[1]: 80 → 443\n"))
    }

    /// A date, and a number with a fraction of zero, stay what they are in each format.
    @Test func typesTravel() throws {
        #expect(try prefs("cp", "\(a):date", "\(b):when") == Printed())
        #expect(try prefs("cp", "-f", a, "-f", b, "editor.size", "ports") == Printed())
        #expect(try prefs("get", b, "when", "editor.size", "--type") == Printed("date\nfloat\n"))
        #expect(try json(b, "editor") == "{\n  \"size\": 14.0,\n  \"wraps\": true\n}\n")
        #expect(try prefs("cp", "\(b):when", "\(b):n", "\(home.path("c.json"))") == Printed())
        let new = try home.text("c.json")
        #expect(new == "{\n  \"n\": 1,\n  \"when\": {\"$date\": \"2026-11-20T00:00:00Z\"}\n}\n")
        #expect(try prefs("mv", "\(a):date", "\(home.path("c.json")):a.b") == Printed())
        #expect(try !text().contains("date") && prefs("get", home.path("c.json"), "a.b", "--type").output == "date\n")
    }

    @Test(arguments: [
        (["A:ports", "B:n", "C"], "`cp` takes the values of one file at a time"),
        (["A:ports", "A:date", "B:k"], "several values keep their keys; name only the file of the copies"),
    ]) func severalValuesHaveOneFileAndTheirKeys(words: [String], message: String) throws {
        let paths = ["A": a, "B": b, "C": home.path("c.json")]
        let words = words.map { $0.replacing(/^[ABC]/) { paths[String($0.output)] ?? "" } }
        #expect(try prefs(["cp"] + words) == .usageError(message))
    }

    /// What was known of it is in no file.
    @Test(arguments: ["cp", "mv"]) func nothingIsCopiedFromADamagedFile(command: String) throws {
        let file = home.path("c.json")
        try home.claim("c.json")
        #expect(try prefs("set", "-f", file, "known=1") == Printed())
        try home.write("{", to: "c.json")
        let before = try home.bytes("b.plist")
        let printed = try prefs(command, "\(file):known", "\(b):known")
        #expect(printed.code == 1 && printed.errors.hasPrefix("prefs: \(file): line "), "\(printed)")
        #expect(try home.bytes("b.plist") == before && home.text("c.json") == "{")
    }

    /// Its old place and its new one overlap.
    @Test func aMoveToItsOwnPlaceLosesNothing() throws {
        let before = try text()
        #expect(try prefs("mv", "-f", a, "ports", "ports") == Printed())
        #expect(try text() == before)
        #expect(try prefs("mv", "-f", a, "editor", "editor.old") == Printed())
        #expect(try json(a, "editor").filter { !$0.isWhitespace } == #"{"old":{"size":14.0,"theme":"dark"}}"#)
    }

    /// It loses nothing, so it needs no --force.
    @Test func aCopyOverAnEqualContainerIsNotConfirmed() throws {
        for _ in 0..<2 { #expect(try prefs("cp", "\(a):ports", "\(b):ports") == Printed()) }
        #expect(try prefs("cp", "\(a):ports", "\(b):editor").code == 1)
    }

    /// Several keys of one file change together: one undo reverts them.
    @Test func severalKeysAreOneTransaction() throws {
        let before = try text()
        #expect(try prefs("mv", "-f", a, "-f", b, "ports", "date") == Printed())
        #expect(try prefs("undo", b).output.split(separator: "\n").count == 2)
        #expect(try prefs("undo", a).output.split(separator: "\n").count == 2)
        #expect(try text() == before)
    }

    /// Another program changes the value after it was copied and before it is removed.
    @Test func aMoveLeavesWhatHasChangedMeanwhile() throws {
        try home.claim("a.json")
        let lock = try home.lock("a.json")
        let child = try PipedChild("prefs", ["mv", "\(a):ports", "\(b):ports"], home: home.folder, mergesErrors: true)
        // It waits for the lock of the source when the copy is stored.
        #expect(try child.line().hasPrefix("prefs: waiting for the lock "))
        #expect(try prefs("get", b, "ports") == Printed("[80,443]\n"))
        let changed = try text().replacing("443", with: "444")
        try home.write(changed, to: "a.json")
        lock.release()
        #expect(try child.line() == "prefs: `ports` has changed meanwhile; it was copied and stays")
        #expect(try text() == changed)
    }

    private static let rejected: [(words: [String], message: String)] = [
        (["mv", "A:nope", "B:x"], "`nope` is not set"),
        (
            ["cp", "A:editor", "B:editor"],
            "the dictionary `editor` would be replaced; --force does it; nothing has changed"
        ),
        (
            ["cp", "A:ports[0]", "A:editor.theme"],
            "the string `editor.theme` would become a value of type integer; --force does it; nothing has changed"
        ),
        (["cp", "A:nothing", "B:x"], "`x`: null cannot be stored in a property list"),
        (["mv", "A:ports", "HOME/no/x.json"], "the folder HOME/no does not exist; nothing was created"),
        (["cp", "A:editor", "int"], "Integer Value: expected Int, found a dictionary"),
        (["cp", "A:ports", "HOME/x.conf:p"], "HOME/x.conf does not exist; --format json, xml or binary creates it"),
    ]

    @Test(arguments: rejected) func aRejectedMoveChangesNothing(words: [String], message: String) throws {
        let state = try home.state()
        let words = words.map {
            $0.replacing("A:", with: "\(a):").replacing("B:", with: "\(b):").replacing("HOME", with: home.folder.path)
        }
        #expect(try prefs(words) == .failure(message.replacing("HOME", with: home.folder.path)))
        #expect(try home.state() == state)
    }

    @Test func aDryRunShowsBothFiles() throws {
        let state = try home.state()
        let printed = try prefs("mv", "\(a):ports", "\(b):ports", "--dry-run")
        #expect(printed == Printed("+ ports: [80,443]\n- ports: [80,443]\n"))
        #expect(try home.state() == state)
    }

    @Test func valuesOfTheProgramAreCopiedByTheirTypes() throws {
        #expect(try prefs("cp", "\(b):n", "int") == Printed())
        #expect(try prefs("get", "int") == Printed("1\n"))
        #expect(try prefs("cp", "int", "\(b):copy") == Printed())
        #expect(try prefs("get", b, "copy") == Printed("1\n"))
        #expect(try prefs("cp", "\(a):ports[0]", "int") == Printed())
        #expect(try prefs("get", "int") == Printed("80\n"))
    }
}
