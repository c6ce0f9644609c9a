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
@Suite(.waits) final class ProgramLayersTests: HarnessSuite {
    private var file: URL { home.folder.file("config.json") }

    private var layout = DomainLayout.flat
    private var variables = ["NAMED_FONT_SIZE": "20"]

    private var store: LayeredStore {
        LayeredStore(
            JSONFileStore(url: file, layout: layout),
            above: [.arguments(["p", "--verbose"]), .environment(prefix: "NAMED_", in: variables)],
            below: [.values(["ratio": 2.0])])
    }

    override var program: Program? {
        let store = store
        return Program(name: "named prefs") { NamedPrefs(key: $0, values: nil, store: $1 ?? store) }
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
        let named = NamedPrefs(store: store)
        #expect(named.fontSize == 20 && named.verbose && named.ratio == 2)
        #expect(named.exported(as: .json).map { String(decoding: $0, as: UTF8.self) } == stored)
        #expect(named.values.keys.sorted() == ["fontSize", "phone", "ratio", "verbose"])
    }

    /// A variable is no part of the root.
    @Test(arguments: [DomainLayout.flat, .roots]) func theDoctorNamesAMisspelledVariable(_ layout: DomainLayout) throws
    {
        NamedPrefs(store: JSONFileStore(url: file, layout: layout)).phone = "7"
        (self.layout, variables) = (layout, ["NAMED_FONTSIZE": "20"])
        let printed = try prefs("doctor")
        #expect(printed.output.contains("\nstate        JSON, \(layout == .flat ? "" : "1 root, ")1 value\n"))
        #expect(
            printed.output.contains(
                "\nproblem: NAMED_FONTSIZE: environment: no key has this variable; did you mean \"NAMED_FONT_SIZE\"?\n"),
            "\(printed)")
    }
}
