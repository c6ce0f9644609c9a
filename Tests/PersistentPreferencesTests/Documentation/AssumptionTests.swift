import Foundation
import Testing

/// The models of Apple's services list what they assume, in a form that can be searched for.
@Suite struct AssumptionTests {
    private static let models = DocumentationPage.package.appending(path: "Tests/AppleModels")

    /// The text after a word, if the line is a comment that begins with it.
    private func text(of line: String, after word: String) -> String? {
        line.firstRange(of: "/// \(word): ").map { String(line[$0.upperBound...]) }
    }

    @Test func eachAssumptionNamesItsSource() throws {
        var count = 0
        let files = try FileManager.default.contentsOfDirectory(at: Self.models, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "swift" {
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

    /// A model that nobody lists would be overlooked.
    @Test func eachModelIsListed() throws {
        let readme = try String(contentsOf: Self.models.appending(path: "README.md"), encoding: .utf8)
        let files = try FileManager.default.contentsOfDirectory(at: Self.models, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("- Assumption:") else { continue }
            let name = file.deletingPathExtension().lastPathComponent.split(separator: "+")[0]
            #expect(readme.contains("| `\(name)` |"), "\(name)")
        }
    }
}
