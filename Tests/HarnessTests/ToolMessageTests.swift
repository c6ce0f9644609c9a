import Foundation
import TestSupport
import Testing

@testable import PrefsSupport
@testable import PrefsTool

/// The messages of the tool: one line, as text and as JSON, and nothing that is stored changes.
@Suite(.waits) final class ToolMessageTests: HarnessSuite {
    @Test(arguments: ToolMessage.all) func aRejectedCommandSaysWhy(_ row: ToolMessage) throws {
        _ = try home.writeSuite("D", ["Entry": 1, "Root": ["size": 12.5]])
        try home.write(["PrefsTestSet": ["Integer Value": 7]], to: ".config/\(HarnessHome.suite).plist")
        let files = try [home.domainFile("D"), home.suiteFile].map { try Data(contentsOf: $0) }
        let message = row.message.replacing("HOME", with: home.folder.path)
        #expect(!message.contains("\n"))
        #expect(try prefs(row.arguments) == Printed(errors: "prefs: \(message)\n", code: row.code))
        let printed = try prefs(["--json"] + row.arguments)
        #expect(printed.output == "" && printed.code == row.code)
        #expect(printed.errors.hasSuffix("}\n") && printed.errors.filter { $0 == "\n" }.count == 1)
        let object = try JSONSerialization.jsonObject(with: Data(printed.errors.utf8)) as? [String: String]
        // The editor has no JSON.
        if row.arguments != ["edit"] { #expect(object == ["error": message]) }
        #expect(try [home.domainFile("D"), home.suiteFile].map { try Data(contentsOf: $0) } == files)
    }

    /// A usage error touches no file, not even to make a folder.
    @Test(arguments: ToolMessage.all.filter { $0.code == 64 }) func aUsageErrorTouchesNoFile(_ row: ToolMessage) throws
    {
        #expect(try prefs(row.arguments).code == 64)
        #expect(try home.folder.names() == [])
    }

    private static let folders = ["Sources/PrefsTool", "HarnessCLI"]
    private static let errors = ["CommandError(", "UsageError("]

    /// A new message needs a row in `ToolMessage.all`, or in `elsewhere` if another suite meets it.
    @Test func everyMessageOfTheSourcesIsInATable() throws {
        let found = try SourceMessages.all(in: Self.folders, after: Self.errors)
        let messages = ToolMessage.all.map(\.message)
        let others = found.filter { message in !messages.contains { SourceMessages.matches(message, $0) } }
        #expect(others.subtracting(ToolMessage.elsewhere).sorted() == [])
        #expect(ToolMessage.elsewhere.subtracting(others).sorted() == [])
    }

    /// A new question, hint or note needs a row in `ToolTexts`.
    @Test func everyOtherTextOfTheSourcesIsInATable() throws {
        let help = PrefsCommands.all.flatMap { [$0.summary, $0.details, $0.example] } + ToolOptions.all.map(\.summary)
        let found = try SourceMessages.others(in: Self.folders, notAfter: Self.errors, without: "Help")
            .filter { text in !help.contains { SourceMessages.matches(text, $0) } }
        #expect(found.subtracting(ToolTexts.all).sorted() == [], "a new text, which needs a row")
        #expect(ToolTexts.all.subtracting(found).sorted() == [], "a row whose text is no longer in the sources")
    }
}
