import Foundation
import Testing

/// The Swift blocks of the README and of the articles compile, those of a page as one program.
///
/// Two kinds are looked at elsewhere: what imports `Testing` stands, verbatim, in a test file that runs; what imports `SwiftUI`
/// is type-checked by `Scripts/check-apple.sh` where there is none.
@Suite struct DocumentationTests {
    @Test(
        .enabled(if: Compiler.isUsable, "no swiftc on the PATH, or no module beside the test program"),
        arguments: DocumentationPage.all)
    func theCodeOfAPageCompiles(_ page: DocumentationPage) throws {
        #expect(page.strayFences == 0, "a Swift block begins and ends at the beginning of a line")
        let isTest = page.blocks.contains { $0.imports("Testing") }
        #if canImport(SwiftUI)
            let isForOthers = isTest
        #else
            let isForOthers = isTest || page.blocks.contains { $0.imports("SwiftUI") }
        #endif
        guard !isForOthers, !page.blocks.isEmpty else { return }
        // Each with page, line and the compiler's words.
        for complaint in try Compiler.complaints(of: page.program, ["-warnings-as-errors"]) {
            Issue.record("\(complaint)")
        }
    }

    @Test func aTestInAPageIsATestHere() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let samples = try String(contentsOf: folder.appending(path: "TestingSampleTests.swift"), encoding: .utf8)
        let pages = DocumentationPage.all.filter { $0.blocks.contains { $0.imports("Testing") } }
        #expect(pages.map(\.testDescription) == ["Testing.md"])
        for block in pages.flatMap(\.blocks) { #expect(samples.contains(block.code)) }
    }

    /// "Behavior" names the suites that prove a sentence.
    @Test func everyTestThatAPageNamesIsThere() {
        let files = FileManager.default.enumerator(atPath: DocumentationPage.package.appending(path: "Tests").path)
        let names = Set((files?.compactMap { $0 as? String } ?? []).map { ($0 as NSString).lastPathComponent })
        for page in DocumentationPage.all {
            for match in page.text.matches(of: /`([A-Z][A-Za-z]*Tests)`/) {
                #expect(names.contains("\(match.output.1).swift"), "\(page.path): \(match.output.1)")
            }
        }
    }
}
