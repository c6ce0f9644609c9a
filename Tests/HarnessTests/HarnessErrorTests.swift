import Foundation
import TestSupport
import Testing

/// Errors of the preferences: the tool prints `lastError`, exits with 1 and changes nothing.
@Suite(.waits) final class HarnessErrorTests: HarnessSuite {
    /// Runs of the commands that work on the test set.
    static let commands = [[], ["get", "int"], ["export"]] + writes
    private static let writes = [["set", "int", "5"], ["unset", "int"], ["set", "int", "+1"], ["unset", "--all"]]

    @Test(arguments: [
        ("nope", nil), ("PrefsTestSet", nil), ("é", nil), ("Int", "int"), ("strng", "string"),
        ("integer value", "Integer Value"), ("Integer Value ", "Integer Value"),
    ])
    func anUnknownKeyIsRejectedWithASuggestion(key: String, near: String?) throws {
        let bytes = try home.writeSuite()
        for command in [["get", key], ["set", key, "5"], ["set", key, "abc"], ["unset", key]] {
            let expected: Printed =
                if let near { .failure("no key `\(key)`; did you mean `\(near)`?") } else { .unknownKey(key) }
            #expect(try prefs(command) == expected)
        }
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    /// A name of each kind; the library tests all.
    private static let badNames: [(option: String, name: String, message: String)] = [
        ("-f", "", #""" is not a valid suite name: it is empty"#),
        ("-f", ".x", #"".x" is not a valid suite name: it begins with a dot"#),
        ("--root", "", #""" is not a valid root key: it is empty"#),
        ("-f", "/", #""/" is not the path of a file"#),
    ]

    @Test(arguments: badNames) func everyCommandRejectsABadName(option: String, name: String, message: String) throws {
        let options = [option, name] + (option == "-f" ? ["--root", "PrefsTestSet"] : [])
        for command in Self.commands { #expect(try prefs(options + command) == .failure(message)) }
        #expect(try home.folder.names() == [])
    }

    @Test func withoutAHomeNothingIsReadOrWritten() throws {
        for (environment, reason) in [
            ([:], "no home folder: HOME is not set, or empty"),
            (["HOME": "home"], "home: HOME is not an absolute path"),
        ] {
            for command in Self.commands {
                let printed = Printed(try Child("prefs", command, environment: environment).wait())
                #expect(printed == .failure("\(reason); the stored state is unchanged"))
            }
        }
    }

    @Test func whatIsNotUTF8IsNamed() throws {
        let homeless = try home.bash(#"HOME=$(printf '/tmp/\377') exec "$0" get int"#)
        #expect(homeless == .failure("no home folder: HOME is not UTF-8; the stored state is unchanged"))
        let printed = try home.bash("exec prefs -f \"$(printf '\\377').plist\" set int 1")
        #expect(printed == .usageError("an argument is not valid UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }

    /// Not "out of range": no integer is written like this.
    @Test(arguments: ["0x50", "0x1p3", "1_000"]) func aTextThatIsNoNumberIsNotOutOfRange(_ text: String) throws {
        #expect(try prefs("set", "int", text) == .failure("int: expected Int, found \"\(text)\": not a number"))
    }

    @Test(.enabled(if: access("/dev/full", W_OK) == 0)) func anOutputThatCannotBeWrittenIsReported() throws {
        #expect(try home.bash("prefs get int > /dev/full") == .failure("standard output: No space left on device"))
    }

    @Test(arguments: commands) func everyCommandRejectsAFolderAndACycleOfLinks(command: [String]) throws {
        let (folder, circle) = (home.path("folder"), home.path("circle"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: circle, withDestinationPath: "circle")
        let links = "open: Too many levels of symbolic links; expected a link that leads to a file"
        for (file, message) in [
            (folder, "\(folder): is a folder; the stored state is unchanged"),
            (folder + "/", "\"\(folder)/\" is not the path of a file"),
            (circle, "\(circle): \(links); the stored state is unchanged"),
        ] {
            #expect(try prefs(command, in: file) == .failure(message))
        }
        #expect(try home.folder.names() == ["circle", "folder"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test func writesFailWhereNoFileCanBeCreated() throws {
        let plain = try home.write("plain", to: "plain")
        let inPlain = home.path("plain/x.plist")
        let tooLong = home.path(String(repeating: "a", count: 244) + ".plist")
        for (file, reason) in [
            (inPlain, home.path("plain") + ": open: Not a directory"),
            (tooLong, tooLong + ": its name has 250 bytes; expected at most 218, because recovery needs longer names"),
        ] {
            #expect(try prefs("get", "int", in: file) == Printed("0\n"))
            for command in [["set", "int", "5"], ["set", "int", "+1"]] {
                #expect(try prefs(command, in: file) == .failure("\(reason); the stored state is unchanged"))
            }
        }
        #expect(try Data(contentsOf: plain) == Data("plain".utf8))
        #expect(try home.folder.names() == ["plain"])
    }

    @Test(.needs("errors: a read-only folder", geteuid() != 0, else: "root may write everywhere"))
    func writesFailInAReadOnlyFolder() throws {
        let file = try home.write(["PrefsTestSet": ["Integer Value": 5]], to: "x.plist")
        let bytes = try Data(contentsOf: file)
        #expect(chmod(home.folder.path, 0o500) == 0)
        #expect(try prefs("get", "int", in: home.path("x.plist")) == Printed("5\n"))
        for command in [["set", "int", "6"], ["unset", "--all"], ["unset", "int"]] {
            let reason = "\(home.path(".x.plist.lock")): open: Permission denied; the stored state is unchanged"
            #expect(try prefs(command, in: home.path("x.plist")) == .failure(reason))
        }
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try home.folder.names() == ["x.plist"])
    }

    @Test(arguments: commands)
    func aRootThatIsNotADictionaryIsRejected(command: [String]) throws {
        let file = try home.write(["PrefsTestSet": [1, 2], "Other": "kept"], to: "x.plist")
        let bytes = try Data(contentsOf: file)
        let printed = try prefs(command, in: home.path("x.plist"))
        let reason = #"prefs: the root "PrefsTestSet": expected a dictionary, found another type; `"#
        #expect(printed.code == 1 && printed.errors.hasPrefix(reason), "\(printed)")
        #expect(
            printed.errors.hasSuffix("/prefs unset --force -f \(home.path("x.plist")) PrefsTestSet` removes it\n"),
            "\(printed)")
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try prefs("unset", "-f", home.path("x.plist"), "PrefsTestSet", "--force") == Printed())
        #expect(try prefs("set", "int", "5", in: home.path("x.plist")) == Printed())
        #expect(try propertyList(at: file)["Other"] as? String == "kept")
    }
}
