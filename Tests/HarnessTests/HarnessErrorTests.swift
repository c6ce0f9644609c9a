import Foundation
import TestSupport
import Testing

/// Errors of the preferences: the tool prints `lastError`, exits with 1 and changes nothing.
@Suite(.waits) final class HarnessErrorTests: HarnessSuite {
    /// Runs of the commands that work on the test set.
    static let commands = [[], ["get", "int"], ["export"]] + writes
    private static let writes = [["set", "int", "5"], ["unset", "int"], ["set", "int", "+1"], ["unset", "--all"]]

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
        let configless = try home.bash(#"XDG_CONFIG_HOME=$(printf '/tmp/\377') exec "$0" get int"#)
        #expect(
            configless
                == .failure("no configuration folder: XDG_CONFIG_HOME is not UTF-8; the stored state is unchanged"))
        let printed = try home.bash("exec prefs -f \"$(printf '\\377').plist\" set int 1")
        #expect(printed == .usageError("an argument is not valid UTF-8"))
        #expect(try home.folder.names().isEmpty)
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
            #expect(try prefs("get", "int", in: file) == Printed("10\n"))
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

    // MARK: - Words that were false: of empty files, of other programs' files, of mistyped keys

    @Test(arguments: ["x.json", "x.plist"]) func anEmptyFileIsNotMissing(name: String) throws {
        let file = home.path(name)
        let kind = name.hasSuffix("json") ? "JSON file" : "property-list file"
        #expect(try prefs("get", "-f", file, "k") == .failure("\(kind) not found: \(file)"))
        try home.write(Data(), to: name)
        #expect(try prefs("get", "-f", file, "k") == .failure("\(kind) is empty: \(file)"))
        #expect(try prefs("set", "-f", file, "k", "1") == Printed())
        // Neither is a link to a missing file, and it is not empty, either.
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "none")
        for suffix in ["lastgood", "lock"] {
            try? FileManager.default.removeItem(atPath: home.path(".\(name).\(suffix)"))
        }
        #expect(try prefs("get", "-f", file, "k") == .failure("\(kind) is a link to a missing file: \(file)"))
    }

    @Test func eachProblemOfAnExportHasItsLine() throws {
        let file = home.path("archive.plist")
        try home.write(
            ["a": ["CF$UID": 1], "b": ["CF$UID": 2], "c": 3] as [String: Any], to: "archive.plist", format: .xml)
        let printed = try prefs("export", file, "--format", "json")
        let lines = printed.errors.split(separator: "\n")
        #expect(printed.code == 1 && printed.output == "" && lines.count == 2, "\(printed)")
        #expect(lines[0].hasPrefix("prefs: a: ") && lines[1].hasPrefix("prefs: b: "))
    }

    @Test func aStringsFileIsNamed() throws {
        let file = home.path("Localizable.strings")
        try home.write("/* Title */\n\"a\" = \"b\";\n", to: "Localizable.strings")
        let message =
            "\(file): property lists in the OpenStep format, such as .strings files, are not read; "
            + "`plutil -convert xml1` of macOS or of a Swift toolchain converts them"
        for words in [["get", file, "a"], ["show", file], ["set", file, "a", "c"]] {
            #expect(try prefs(words) == .failure(message))
        }
        // One that was converted is a property list.
        try home.write(["a": "b"], to: "Localizable.strings", format: .xml)
        #expect(try prefs("get", file, "a") == Printed("b\n"))
    }

    /// Reads would show the defaults only, and a write would put a dictionary beside the values.
    @Test func aRootInAFlatCopyIsRejected() throws {
        let file = home.path("copy.json")
        try home.write(#"{"Integer Value": 5}"#, to: "copy.json")
        let message = "\(file) has `Integer Value` at its top and no root `R`; leave out --root"
        for words in [["show"], ["get", "int"], ["set", "int", "6"]] {
            #expect(try prefs(words + ["-f", file, "--root", "R"]) == .failure(message))
        }
        #expect(try prefs("get", file, "Integer Value") == Printed("5\n"))
    }

    @Test func aMistypedKeyWithADotIsNotNested() throws {
        let file = home.path("settings.json")
        try home.write(#"{"editor.fontSize": 12, "editor.theme": "dark"}"#, to: "settings.json")
        let message =
            "the keys of this file have dots, and none is `editor.fontsize`; did you mean `editor.fontSize`?; "
            + "a new key of that name is written 'editor\\.fontsize', and --nest makes dictionaries"
        #expect(try prefs("set", file, "editor.fontsize", "3") == .failure(message))
        #expect(try prefs("set", file, #"editor\.wraps"#, "true") == Printed())
        #expect(try prefs("set", file, "editor.wraps=false", #"other\.new=1"#) == Printed())
        // Without a dictionary at the top, another name is no path either.
        let other = try prefs("set", file, "files.new", "1")
        #expect(
            other.code == 1 && other.errors.hasSuffix("is written 'files\\.new', and --nest makes dictionaries\n"),
            "\(other)")
        #expect(
            try prefs("complete-words", "fish", "get", file, "editor.f").output.hasPrefix("words\0editor.fontSize\t"))
        #expect(try prefs("complete-words", "fish", "get", file, "editor.").output.split(separator: "\0").count == 5)
    }
}
