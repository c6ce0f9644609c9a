import Foundation
import TestSupport
import Testing

/// A damaged file is set aside with its bytes intact, and whoever comes first is told.
@Suite struct HarnessDamageTests {
    private static let commands = [
        [], ["--json"], ["get", "int"], ["set", "int", "5"], ["unset", "int"], ["reset"], ["clear"], ["delete-all"],
    ]

    @Test(arguments: commands)
    func theFirstCommandTellsAndDoesNothingElse(command: [String]) throws {
        let home = try HarnessHome()
        let bytes = Data("no property list".utf8)
        let file = try home.write(bytes, to: "x.plist")
        let path = home.path("x.plist")
        let printed = try home.prefs(command + ["--file", path])
        let aside = try #require(try home.folder.names().first { $0.hasPrefix("x.plist.corrupt-") })
        let message =
            "\(path): neither a binary nor an XML property list; set aside as \(home.path(aside)), "
            + "there was no last good state"
        #expect(printed == (command == ["--json"] ? Printed(errors: json(message), code: 1) : .refused(message)))
        #expect(try Data(contentsOf: home.folder.file(aside)) == bytes)
        #expect(try home.folder.names() == [".x.plist.lock", aside])
        #expect(try home.prefs("--file", path) == Printed(Shown().table(file: file)))
        #expect(try home.prefs("set", "int", "5", "--file", path) == Printed())
        #expect(try home.prefs("get", "int", "--file", path) == Printed("5\n"))
    }

    @Test func theLastGoodStateIsRestored() throws {
        let home = try HarnessHome()
        try home.prefs("reset")
        try home.prefs("set", "int", "42")
        let good = try Data(contentsOf: home.suiteFile)
        let file = ".config/\(HarnessHome.suite).plist"
        try home.write(good.dropLast(), to: file)
        let printed = try home.prefs("set", "int", "43")
        #expect(printed.code == 1)
        #expect(printed.output == "")
        #expect(printed.errors.hasPrefix("prefs: \(home.path(file)): "))
        #expect(printed.errors.hasSuffix(", the last good state was restored\n"))
        #expect(try Data(contentsOf: home.suiteFile) == good)
        #expect(try home.prefs("get", "int") == Printed("42\n"))
    }

    @Test func aTopLevelThatIsNoDictionary() throws {
        let home = try HarnessHome()
        let bytes = try Data(contentsOf: home.write([1, 2], to: "x.plist", format: .xml))
        let path = home.path("x.plist")
        let printed = try home.prefs("get", "int", "--file", path)
        let aside = try #require(try home.folder.names().first { $0.hasPrefix("x.plist.corrupt-") })
        let message =
            "\(path): its top level is no dictionary; set aside as \(home.path(aside)), there was no last good state"
        #expect(printed == .refused(message))
        #expect(try Data(contentsOf: home.folder.file(aside)) == bytes)
    }

    @Test(arguments: [
        PropertyListSerialization.PropertyListFormat.xml.rawValue,
        PropertyListSerialization.PropertyListFormat.binary.rawValue,
    ])
    func aWholeFileKeepsItsFormat(format: UInt) throws {
        let home = try HarnessHome()
        let format = try #require(PropertyListSerialization.PropertyListFormat(rawValue: format))
        let file = try home.write(["PrefsTestSet": ["Integer Value": 5]], to: "x.plist", format: format)
        #expect(try home.prefs("get", "int", "--file", home.path("x.plist")) == Printed("5\n"))
        #expect(try home.prefs("set", "int", "6", "--file", home.path("x.plist")) == Printed())
        var found = PropertyListSerialization.PropertyListFormat.openStep
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: &found)
        #expect(found == format)
        #expect(list as? [String: [String: Int]] == ["PrefsTestSet": ["Integer Value": 6]])
    }

    private func json(_ message: String) -> String {
        "{\"error\":\"\(message)\"}\n"
    }
}
