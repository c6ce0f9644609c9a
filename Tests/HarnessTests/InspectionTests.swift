import Foundation
import TestSupport
import Testing

@testable import PrefsSupport
@testable import PrefsTool

/// The inspection of a file, which `doctor` uses, reports what the library would reject, and changes nothing.
@Suite(.waits) struct InspectionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: FoundFile.Content.allCases, FoundFile.Neighbors.allCases)
    func nothingChanges(_ content: FoundFile.Content, _ neighbors: FoundFile.Neighbors) throws {
        for isLinked in [false, true] {
            let folder = try TemporaryFolder()
            let url = try FoundFile.put(content, neighbors, isLinked, in: folder)
            let before = try FolderState(folder)
            for isJSON in [false, true] {
                _ = FileInspection(path: url.path, isJSON: isJSON)
                _ = try? SidecarPaths(path: url.path)
                #expect(try FolderState(folder) == before, "JSON: \(isJSON), link: \(isLinked)")
            }
        }
    }

    /// The value is at the top, in a root of another program, or in a list.
    @Test(arguments: ["%", "<key>theirs</key><dict>%</dict>", "<key>x</key><array><dict>%</dict></array>"])
    func twinsAreNamed(_ place: String) throws {
        let pair = "<key>\u{E9}</key><integer>1</integer><key>e\u{301}</key><integer>2</integer>"
        let text = "<plist version=\"1.0\"><dict>\(place.replacing("%", with: pair))</dict></plist>"
        try Data(text.utf8).write(to: folder.file())
        let problems = FileInspection(path: folder.file().path).problems
        #expect(
            problems.first?.reason.contains(
                "the keys \"\u{E9}\" (U+00E9) and \"e\u{301}\" (U+0065 U+0301) differ only in Unicode normalization")
                == true)
    }

    @Test func keysAreEscaped() throws {
        try Data("<plist><dict><key>\u{202E}</key><string>\u{1}</string></dict></plist>".utf8).write(to: folder.file())
        let reasons = FileInspection(path: folder.file().path(percentEncoded: false)).problems.map(\.reason)
        #expect(
            reasons == [
                #"\u{202e}: the control character U+0001 cannot be stored in XML, so other programs may read it differently"#
            ])
    }
}
