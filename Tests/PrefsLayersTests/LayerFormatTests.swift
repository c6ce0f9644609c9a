@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsLayers
import TestSupport
import Testing

private final class FormatPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var size = 12
}

/// The content of a layer's file says whether it is JSON, as in the base.
@Suite struct LayerFormatTests {
    private let folder = TemporaryFolder.fresh

    private func prefs(_ file: String, _ text: String) throws -> FormatPrefs {
        try Data(text.utf8).write(to: folder.file(file))
        return FormatPrefs(key: "R", store: .layered(.memory(), below: [.file(folder.file(file))]))
    }

    @Test(arguments: ["settings", "settings.conf", "settings.plist", "settings.json"])
    func jsonIsReadUnderAnyName(_ file: String) throws {
        for start in ["", "\n  ", "// ours\n", "/* ours */ ", "\u{FEFF}"] {
            let prefs = try prefs(file, start + #"{"R": {"size": 7}}"#)
            #expect(prefs.size == 7 && prefs.lastError == nil, "\(start) \(prefs.outcome)")
        }
    }

    @Test(arguments: [
        ("settings.plist", "size = 7", "is neither a binary nor an XML property list"),
        ("settings.json", "size = 7", "line 1, column 1: expected a value"),
        ("settings.plist", #"{"R": {"size": 7}"#, "line 1, column 18: expected , or } before the end of the data"),
    ])
    func whatIsWrongIsSaidInTheTermsOfTheFormat(_ file: String, _ text: String, _ reason: String) throws {
        let prefs = try prefs(file, text)
        let problems = prefs.problems().map(\.reason)
        #expect(problems.count == 1 && problems[0].hasPrefix(reason), "\(problems)")
    }
}
