import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import Testing
import TestSupport

@testable import PrefsTool

private final class NamedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var fontSize = 12
    @Pref var verbose = false
    @Pref var phone = "123"
    @Pref var ratio = 0.5
}

/// The command of a program whose store has arguments and an environment above the file.
@Suite struct ProgramLayersTests {
    private let home: HarnessHome
    private let file: URL

    init() throws {
        home = try HarnessHome()
        file = home.folder.file("config.json")
    }

    private func store(_ layout: DomainLayout, _ variables: [String: String]) -> LayeredStore {
        LayeredStore(
            JSONFileStore(url: file, layout: layout),
            above: [.arguments(["p", "--verbose"]), .environment(prefix: "NAMED_", in: variables)],
            below: [.values(["ratio": 2.0])])
    }

    private func prefs(
        _ words: String..., layout: DomainLayout = .flat, variables: [String: String] = ["NAMED_FONT_SIZE": "20"]
    ) throws -> Printed {
        let program = Program(
            name: "named prefs",
            make: { root, other in NamedPrefs(key: root, values: nil, store: other ?? store(layout, variables)) })
        return try CommandRun(environment: ["HOME": home.folder.path]).run(words, of: program)
    }

    @Test func theHelpOfAKeyHasItsNames() throws {
        let size = try prefs("help", "fontSize").output
        #expect(size.contains("  option    --font-size, -fontSize\n"))
        #expect(size.contains("  variable  NAMED_FONT_SIZE, NAMED_fontSize\n"))
        let flag = try prefs("help", "verbose").output
        #expect(flag.contains("  option    --verbose, --no-verbose, -verbose\n"))
        #expect(try home.folder.names() == [])
        // The class alone has no names.
        #expect(try !Help(of: AppPrefs.program).text("fontSize").contains("option"))
    }

    @Test func anExportLeavesLayersOut() throws {
        try Data(#"{"fontSize": 14, "phone": "7"}"#.utf8).write(to: file)
        let stored = "{\n  \"fontSize\": 14,\n  \"phone\": \"7\"\n}\n"
        #expect(try prefs("export") == Printed(stored))
        let prefs = NamedPrefs(store: store(.flat, ["NAMED_FONT_SIZE": "20"]))
        #expect(prefs.fontSize == 20 && prefs.verbose && prefs.ratio == 2)
        #expect(prefs.exported(as: .json).map { String(decoding: $0, as: UTF8.self) } == stored)
        #expect(prefs.values.keys.sorted() == ["fontSize", "phone", "ratio", "verbose"])
    }

    /// A variable is no part of the root.
    @Test(arguments: [DomainLayout.flat, .roots]) func theDoctorNamesAMisspelledVariable(_ layout: DomainLayout) throws
    {
        NamedPrefs(store: JSONFileStore(url: file, layout: layout)).phone = "7"
        let printed = try prefs("doctor", layout: layout, variables: ["NAMED_FONTSIZE": "20"])
        #expect(printed.output.contains("\nstate        JSON, \(layout == .flat ? "" : "1 root, ")1 value\n"))
        #expect(
            printed.output.contains(
                "\nproblem: NAMED_FONTSIZE: environment: no key has this variable; did you mean \"NAMED_FONT_SIZE\"?\n"),
            "\(printed)")
    }
}
