@testable import PrefsSupport
import Foundation
import Testing

/// The Swift blocks of the README and of the articles compile. The blocks of a page are one program: in a module
/// without a default isolation, and in a module with the settings of a new app in Xcode, whose default isolation is the
/// main actor.
///
/// Two kinds are checked elsewhere. A block that imports `Testing` is in a test file, verbatim. Without SwiftUI,
/// `Scripts/check-apple.sh` type-checks the blocks that import it.
@Suite struct DocumentationTests {
    @Test(
        .enabled(if: Compiler.canRun),
        arguments: DocumentationPage.all, [Compiler.Isolation.none, .approachable])
    func theCodeOfAPageCompiles(_ page: DocumentationPage, _ isolation: Compiler.Isolation) throws {
        #expect(page.strayFences == 0, "a Swift block begins and ends at the beginning of a line")
        #if canImport(SwiftUI)
            let isForOthers = false
        #else
            let isForOthers = page.blocks.contains { $0.imports("SwiftUI") }
        #endif
        guard !isForOthers, page.blocks.contains(where: { !$0.isTest }) else { return }
        // Each complaint has the page, the line and the text of the compiler.
        for complaint in try Compiler.complaints(of: page.program, isolation.arguments + ["-warnings-as-errors"]) {
            Issue.record("\(complaint)")
        }
    }

    /// A reader copies an example with its imports, and no others.
    @Test(.enabled(if: Compiler.canRun), arguments: [("README.md", 1), ("ThreeUses.md", 3)])
    func theExamplesToStartFromCompileAsPrinted(_ page: String, _ count: Int) throws {
        let page = try #require(DocumentationPage.all.first { $0.testDescription == page })
        #expect(page.programs.count == count)
        for program in page.programs {
            for complaint in try Compiler.complaints(of: program, ["-warnings-as-errors"]) {
                Issue.record("\(complaint)")
            }
        }
    }

    /// The samples that run as tests are also in the pages.
    @Test(arguments: [
        ("TestingYourPreferences.md", 0, "Stores/TestingSampleTests.swift"),
        ("WritingAStore.md", 0, "Support/AccountBackend.swift"),
        ("WritingAStore.md", 2, "Remote/ServerBackend.swift"),
        ("WritingAStore.md", 3, "Stores/AccountBackendTests.swift"),
        ("PreferencesOfALibrary.md", 0, "Stores/LibrarySample.swift"), ("Sharing.md", 0, "Stores/MovingSample.swift"),
        ("ChangingDeclarations.md", 1, "Typed/EvolvingStructTests.swift"),
    ])
    func aSampleIsInItsPage(_ page: String, _ number: Int, _ sample: String) throws {
        let file = DocumentationPage.package.appending(path: "Tests/PersistentPreferencesTests/\(sample)")
        let code = try String(contentsOf: file, encoding: .utf8)
        let blocks = try #require(DocumentationPage.all.first { $0.testDescription == page }).blocks
        try #require(blocks.indices.contains(number))
        #expect(code.contains(blocks[number].code), "block \(number) of \(page) stands otherwise in \(sample)")
    }

    @Test func noOtherBlockIsATest() {
        let tests = DocumentationPage.all.flatMap { page in
            page.blocks.indices.filter { page.blocks[$0].isTest }.map { "\(page.testDescription) \($0)" }
        }
        #expect(tests == ["TestingYourPreferences.md 0", "WritingAStore.md 3"])
    }

    /// The table "guarantee → tests" has a row with a suite for each guarantee of "Behavior", which are bold and numbered: `**7. …**`.
    @Test func everyGuaranteeHasItsTests() throws {
        let behavior = try #require(DocumentationPage.all.first { $0.testDescription == "Behavior.md" })
        let table = try #require(DocumentationPage.house.first { $0.path == "Tests/README.md" })
        let numbers = behavior.text.matches(of: /\*\*([0-9]+)\.\s/).compactMap { Int($0.output.1) }
        #expect(numbers == Array(1...max(1, numbers.count)), "the guarantees of \(behavior.path) are numbered from 1")
        let proven = table.text.matches(of: /\n\| ([0-9]+) \|[^\n]*`[A-Za-z]+Tests`/).compactMap { Int($0.output.1) }
        for number in Set(numbers).subtracting(proven).sorted() {
            Issue.record("\(table.path): no row for guarantee \(number) of \(behavior.path)")
        }
        for number in Set(proven).subtracting(numbers).sorted() {
            Issue.record("\(table.path): \(behavior.path) has no guarantee \(number)")
        }
    }

    @Test func everyErrorIsOnThePageErrors() throws {
        let source = DocumentationPage.package.appending(path: "Sources/PersistentPreferences/Errors/PrefsError.swift")
        let page = try #require(DocumentationPage.all.first { $0.testDescription == "Errors.md" })
        let cases = try String(contentsOf: source, encoding: .utf8).matches(of: /\n    case ([a-zA-Z]+)/)
            .map { String($0.output.1) }
        #expect(cases.count > 20)
        #expect(cases.filter { !page.text.contains("| ``PrefsError/\($0)") } == [])
    }

    /// Pages for contributors name test suites. Pages for users name none: `Tests/README.md` has them.
    @Test func everyTestThatAPageNamesIsThere() throws {
        let folder = DocumentationPage.package.appending(path: "Tests")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let files = Dictionary(
            paths.filter { $0.hasSuffix("Tests.swift") }.map { (($0 as NSString).lastPathComponent, $0) }
        ) { first, _ in first }
        for page in DocumentationPage.all where page.path != DocumentationPage.changes {
            let named = page.text.matches(of: /`[A-Z][A-Za-z]*Tests[`.]/).map { String($0.output) }
            #expect(named.isEmpty, "\(page.path) names tests")
        }
        for page in DocumentationPage.house {
            for match in page.text.matches(of: /`([A-Z][A-Za-z]*Tests)(?:\.([A-Za-z]+))?`/) {
                let file = files["\(match.output.1).swift"]
                let text = try file.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
                let declared = match.output.2.map { ["func \($0)(", "enum \($0):"] } ?? ["@Test"]
                if !declared.contains(where: { text?.contains($0) == true }) {
                    Issue.record("\(page.path): there is no \(match.output.0)")
                }
            }
        }
    }

    @Test func everyFileThatAPageNamesIsThere() {
        #expect(DocumentationPage.house.count == 6)
        for page in DocumentationPage.all + DocumentationPage.house {
            let folder = DocumentationPage.package.appending(path: page.path).deletingLastPathComponent()
            let links = page.text.matches(of: /\]\(([^)#: ]+)(?:#[^)]+)?\)/).map {
                folder.appending(path: String($0.output.1))
            }
            let named = page.text.matches(of: /\b((?:Scripts|Sources|Tests)\/[A-Za-z0-9_\/+.-]*[A-Za-z0-9_])/)
                .map { DocumentationPage.package.appending(path: String($0.output.1)) }
            for file in links + named where !FileManager.default.fileExists(atPath: file.path) {
                Issue.record("\(page.path): there is no \(file.relativePath)")
            }
        }
    }

    /// A link of the README to a section, as Markdown viewers form it: in lower case, with dashes.
    @Test func everySectionThatTheReadmeLinksToIsThere() throws {
        let readme = try #require(DocumentationPage.all.first { $0.path == "README.md" })
        let links = readme.text.matches(of: /\]\(([^)#: ]+)#([^)]+)\)/)
        #expect(links.count > 3)
        for link in links {
            let page = try #require(DocumentationPage.all.first { $0.path == link.output.1 }, "\(link.output.1)")
            let anchors = page.text.matches(of: /\n##+ (.+)/).map {
                $0.output.1.lowercased().filter { $0.isLetter || $0.isNumber || " -".contains($0) }
                    .replacing(" ", with: "-")
            }
            #expect(anchors.contains(String(link.output.2)), "\(page.path) has no section \(link.output.2)")
        }
    }

    /// The changes that someone may want to make, each of which has a row in the table "I want to …".
    private static let changes = [
        "add an error case", "add a warning", "add a kind of constraint", "add a file format", "add a store",
        "add a command to the tool", "change how dates or data in JSON are read", "add a platform",
        "change what a write survives", "add a property wrapper", "add a form of observation",
        "add a kind of migration", "remove a feature",
    ]

    /// The files, types, functions and test targets that the article names exist, and a row can be read at a glance.
    /// `everyTestThatAPageNamesIsThere` checks the suites, `Scripts/docs.sh` the articles.
    @Test func theTableOfChangesNamesWhatIsThere() throws {
        let page = try #require(DocumentationPage.house.first { $0.path == DocumentationPage.changes })
        let tree = try SourceTree()
        let rows = page.rows(of: "## I want to …")
        let tasks = rows.compactMap(\.first)
        #expect(Self.changes.filter { !tasks.contains($0) } == [])
        for row in rows {
            #expect(row.count == 4, "\(row)")
            #expect(row.joined(separator: " ").split(separator: " ").count <= 40, "\(row[0])")
        }
        for name in tree.missing(in: page.text) { Issue.record("\(page.path): there is no \(name)") }
    }

    /// The lines are those of the files, but for a tenth.
    @Test func theTableOfRulesHasTheLinesOfItsFiles() throws {
        let page = try #require(DocumentationPage.house.first { $0.path == DocumentationPage.changes })
        let sources = DocumentationPage.package.appending(path: "Sources")
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        let rows = page.rows(of: "## What one reads")
        #expect(rows.count == 18)
        for row in rows {
            let lines = try row[1].matches(of: /`([^`]+)`/).reduce(0) { lines, match in
                let path = try #require(paths.first { "/\($0)".hasSuffix("/\(match.output.1)") }, "\(match.output.1)")
                let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
                return lines + text.count { $0 == "\n" }
            }
            let told = try #require(Int(row[2]))
            #expect(abs(lines - told) <= told / 10, "\(row[0]): \(lines) lines")
        }
    }
}
