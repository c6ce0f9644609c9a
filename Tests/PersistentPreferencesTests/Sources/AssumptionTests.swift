import Foundation
import Testing

/// The models of Apple's services list what they assume, in a form that can be searched for.
@Suite struct AssumptionTests {
    private static let models = "Tests/AppleModels"

    /// The text after a word, if the line is a comment that begins with it.
    private func text(of line: String, after word: String) -> String? {
        line.firstRange(of: "/// \(word): ").map { String(line[$0.upperBound...]) }
    }

    @Test func eachAssumptionNamesItsSource() throws {
        var count = 0
        for file in DocumentationPage.swiftFiles(in: Self.models) {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            for (line, next) in zip(lines, lines.dropFirst()) {
                let place = "\(file.lastPathComponent): \(line)"
                if let assumption = text(of: line, after: "- Assumption") {
                    count += 1
                    #expect(assumption.hasSuffix("."), "\(place)")
                    #expect(text(of: next, after: "  Source")?.hasSuffix(".") == true, "\(place)")
                } else if text(of: next, after: "  Source") != nil {
                    Issue.record("a source without an assumption: \(place)")
                }
            }
        }
        #expect(count > 10)
    }

    /// Each model must be listed, because others would be overlooked.
    @Test func eachModelIsListed() throws {
        let page = DocumentationPage.package.appending(path: "\(Self.models)/README.md")
        let readme = try String(contentsOf: page, encoding: .utf8)
        for file in DocumentationPage.swiftFiles(in: Self.models) {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("- Assumption:") else { continue }
            let name = file.deletingPathExtension().lastPathComponent.split(separator: "+")[0]
            #expect(readme.contains("| `\(name)` |"), "\(name)")
        }
    }
}
