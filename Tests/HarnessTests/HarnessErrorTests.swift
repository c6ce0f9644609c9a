import Foundation
import TestSupport
import Testing

/// Errors of the preferences: the tool prints `lastError`, exits with 1 and changes nothing.
@Suite struct HarnessErrorTests {
    /// Runs of the commands that work on the test set.
    static let commands = [[], ["get", "int"], ["export"]] + writes
    private static let writes = [["set", "int", "5"], ["unset", "int"], ["increment", "int"], ["reset"]]

    @Test(arguments: [
        ("nope", nil), ("", nil), ("PrefsTestSet", nil), ("é", nil), ("Int", "int"), ("strng", "string"),
        ("integer value", "Integer Value"), ("Integer Value ", "Integer Value"),
    ])
    func anUnknownKeyIsRejectedWithASuggestion(key: String, near: String?) throws {
        let home = try HarnessHome()
        let bytes = try home.writeSuite()
        for command in [["get", key], ["set", key, "5"], ["set", key, "abc"], ["unset", key]] {
            let expected: Printed =
                if let near { .failure("no key `\(key)`: did you mean `\(near)`?") } else { .unknownKey(key) }
            #expect(try home.prefs(command) == expected)
        }
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    @Test func anUnknownKeyIsPrintedOnOneLine() throws {
        let home = try HarnessHome()
        #expect(try home.prefs("get", "a\nb\u{1B}[1m") == .unknownKey(#"a\nb\u{1b}[1m"#))
    }

    private static let badNames: [(options: [String], message: String)] = [
        (["--suite", ""], #""" is not a valid suite name: it is empty"#),
        (["--suite", "../x"], #""../x" is not a valid suite name: it contains a /"#),
        (["--suite", "/x"], #""/x" is not a valid suite name: it contains a /"#),
        (["--suite", ".x"], #"".x" is not a valid suite name: it begins with a dot"#),
        (["--suite", ".."], #"".." is not a valid suite name: it begins with a dot"#),
        (["--suite", "\u{FEFF}x"], #""\u{feff}x" is not a valid suite name: it begins with U+FEFF"#),
        (
            ["--suite", String(repeating: "a", count: 201)],
            "\"\(String(repeating: "a", count: 80))…\" is not a valid suite name: it is longer than 200 bytes"
        ),
        (["--root", ""], #""" is not a valid root key: it is empty"#),
        (["--root", "\u{FEFF}x"], #""\u{feff}x" is not a valid root key: it begins with U+FEFF"#),
        (
            ["--root", String(repeating: "é", count: 513)],
            "\"\(String(repeating: "é", count: 80))…\" is not a valid root key: it is longer than 1024 bytes"
        ),
        (["--file", "/"], #""/" is not the path of a file"#),
        (["--file", ""], "\"\(FileManager.default.currentDirectoryPath)/\" is not the path of a file"),
    ]

    /// The first bad name of each option is tried with every command, the others with a read and a write.
    @Test(arguments: badNames)
    func everyCommandRejectsABadName(options: [String], message: String) throws {
        let home = try HarnessHome()
        let isFirst = Self.badNames.first { $0.options[0] == options[0] }?.options == options
        for command in isFirst ? Self.commands : [["get", "int"], ["set", "int", "5"]] {
            #expect(try home.prefs(options + command) == .failure(message))
        }
        #expect(try home.folder.names() == [])
    }

    @Test(arguments: ["a/b", "..", ".hidden", " ", "a\nb", String(repeating: "r", count: 1_024)])
    func unusualRootNamesAreAccepted(root: String) throws {
        let home = try HarnessHome()
        #expect(try home.prefs("set", "int", "5", "--root", root) == Printed())
        #expect(try home.prefs("get", "int", "--root", root) == Printed("5\n"))
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

    @Test(arguments: commands)
    func everyCommandRejectsAFolderAsTheFile(command: [String]) throws {
        let home = try HarnessHome()
        let path = home.path("folder")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(
            try home.prefs(command + ["--file", path])
                == .failure("\(path): is a folder; the stored state is unchanged"))
        #expect(try home.prefs(command + ["--file", path + "/"]) == .failure("\"\(path)/\" is not the path of a file"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }

    @Test(arguments: commands)
    func everyCommandRejectsACycleOfLinks(command: [String]) throws {
        let home = try HarnessHome()
        let path = home.path("circle")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "circle")
        let reason = "open: Too many levels of symbolic links; the stored state is unchanged"
        #expect(try home.prefs(command + ["--file", path]) == .failure("\(path): \(reason)"))
        #expect(try home.folder.names() == ["circle"])
    }

    @Test func writesFailWhereNoFileCanBeCreated() throws {
        let home = try HarnessHome()
        let plain = try home.write(Data("plain".utf8), to: "plain")
        let inPlain = home.path("plain/x.plist")
        let tooLong = home.path(String(repeating: "a", count: 250))
        for (file, reason) in [
            (inPlain, home.path("plain") + ": open: Not a directory"),
            (
                tooLong,
                tooLong + ": its name has 250 bytes; expected at most 218, because recovery needs longer names"
            ),
        ] {
            #expect(try home.prefs("get", "int", "--file", file) == Printed("0\n"))
            for command in [["set", "int", "5"], ["increment", "int"]] {
                #expect(
                    try home.prefs(command + ["--file", file]) == .failure("\(reason); the stored state is unchanged"))
            }
        }
        #expect(try Data(contentsOf: plain) == Data("plain".utf8))
        #expect(try home.folder.names() == ["plain"])
    }

    @Test(
        .enabled(
            if: Hazard.canRun(
                "errors: a read-only folder", if: geteuid() != 0, else: "root may write everywhere")))
    func writesFailInAReadOnlyFolder() throws {
        let home = try HarnessHome()
        let file = try home.write(["PrefsTestSet": ["Integer Value": 5]], to: "x.plist")
        let bytes = try Data(contentsOf: file)
        #expect(chmod(home.folder.path, 0o500) == 0)
        #expect(try home.prefs("get", "int", "--file", home.path("x.plist")) == Printed("5\n"))
        for command in [["set", "int", "6"], ["reset"], ["unset", "int"]] {
            let reason = "\(home.path(".x.plist.lock")): open: Permission denied; the stored state is unchanged"
            #expect(try home.prefs(command + ["--file", home.path("x.plist")]) == .failure(reason))
        }
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try home.folder.names() == ["x.plist"])
    }

    @Test(arguments: commands)
    func aRootThatIsNotADictionaryIsRejected(command: [String]) throws {
        let home = try HarnessHome()
        let file = try home.write(["PrefsTestSet": [1, 2], "Other": "kept"], to: "x.plist")
        let bytes = try Data(contentsOf: file)
        let reason =
            #"the root "PrefsTestSet": expected a dictionary, found another type; `prefs delete DOMAIN ROOT` removes it"#
        #expect(try home.prefs(command + ["--file", home.path("x.plist")]) == .failure(reason))
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try home.prefs("delete", home.path("x.plist"), "PrefsTestSet", "--force") == Printed())
        #expect(try home.prefs(["set", "int", "5", "--file", home.path("x.plist")]) == Printed())
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        #expect((list as? [String: Any])?["Other"] as? String == "kept")
    }
}
