import Foundation
import Testing

/// A page of the documentation, the README or an article, with the Swift blocks in it.
struct DocumentationPage: Sendable, CustomTestStringConvertible {
    /// A ```` ```swift ```` block.
    struct Block: Sendable {
        /// The line of the page at which its code begins.
        let line: Int
        let code: String

        /// Whether the block is also in a test file, verbatim, and runs there.
        var isTest: Bool { imports("Testing") }

        func imports(_ module: String) -> Bool {
            code.split(separator: "\n").contains("import \(module)")
        }
    }

    /// The path, relative to the folder of the package.
    let path: String
    let text: String
    let blocks: [Block]
    /// The number of fences of Swift blocks that are indented or never closed.
    let strayFences: Int

    var testDescription: String { (path as NSString).lastPathComponent }

    static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// The Swift files below a folder of the package.
    static func swiftFiles(in folder: String) -> [URL] {
        let files = FileManager.default.enumerator(
            at: package.appending(path: folder), includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
    }

    /// The README, and every article of the catalog.
    static let all: [DocumentationPage] = {
        let catalog = "Sources/PersistentPreferences/PersistentPreferences.docc"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: package.appending(path: catalog).path)) ?? []
        let paths = ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }
        return paths.compactMap { path in
            (try? String(contentsOf: package.appending(path: path), encoding: .utf8)).map { Self(path: path, text: $0) }
        }
    }()

    /// The article for developers of the package that names tests.
    static let changes = "Sources/PersistentPreferences/PersistentPreferences.docc/WhereToChange.md"

    /// The pages for developers of the package. They contain no Swift.
    static let house = [
        "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Tests/README.md", "Tests/Benchmarks/README.md", changes,
    ]
    .compactMap { path in
        (try? String(contentsOf: package.appending(path: path), encoding: .utf8)).map { Self(path: path, text: $0) }
    }

    init(path: String, text: String) {
        self.path = path
        self.text = text
        var blocks: [Block] = []
        var open: (line: Int, lines: [Substring])?
        var fences = 0
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.contains("```swift") { fences += 1 }
            if line == "```swift" {
                open = (number + 2, [])
            } else if line == "```", let block = open {
                blocks.append(Block(line: block.line, code: block.lines.joined(separator: "\n")))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        self.blocks = blocks
        strayFences = fences - blocks.count
    }

    /// The blocks as one program, without tests, in their order, because a later block uses the declarations of an
    /// earlier one. Errors of the compiler name the page and its line.
    var program: String {
        let header = "import Foundation\nimport PersistentPreferences\n"
        return blocks.filter { !$0.isTest }.reduce(header) { program, block in
            program + "#sourceLocation(file: \"\(path)\", line: \(block.line))\n\(block.code)\n#sourceLocation()\n"
        }
    }

    /// The blocks that begin with their imports: programs, exactly as they are printed.
    var programs: [String] {
        blocks.filter { !$0.isTest && $0.code.hasPrefix("import ") }.map { block in
            "#sourceLocation(file: \"\(path)\", line: \(block.line))\n\(block.code)\n#sourceLocation()\n"
        }
    }

    /// The rows of the first table below a heading, without its head, as cells.
    func rows(of heading: String) -> [[String]] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0 != heading }.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            .map { $0.count == 3 ? $0 + [""] : $0 }
    }
}
