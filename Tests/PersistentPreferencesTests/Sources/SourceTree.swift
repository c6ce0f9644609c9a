import Foundation

/// What the files of the package declare, for pages that name it.
struct SourceTree {
    /// The paths of all files, relative to the folder of the package.
    private let paths: [String]
    /// The names that follow a keyword of `types` in a Swift file.
    private var typeNames: Set<String> = []
    /// The names that follow another keyword.
    private var memberNames: Set<String> = []
    private let manifest: String

    init() throws {
        let package = DocumentationPage.package
        paths =
            try FileManager.default.contentsOfDirectory(atPath: package.path)
            + ["Sources", "Tests", "HarnessCLI"].flatMap { folder in
                let files = FileManager.default.enumerator(atPath: package.appending(path: folder).path)
                return (files?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }
            }
        manifest = try String(contentsOf: package.appending(path: "Package.swift"), encoding: .utf8)
        for path in paths where path.hasSuffix(".swift") && path.contains("/") {
            let code = try String(contentsOf: package.appending(path: path), encoding: .utf8)
            for line in code.split(separator: "\n") {
                let words = line.split(separator: " ")
                // In `class func`, the second word counts.
                let isKeyword = { Self.types.contains($0) || Self.members.contains($0) }
                guard
                    let index = words.indices.dropLast().first(where: {
                        isKeyword(words[$0]) && !isKeyword(words[$0 + 1])
                    })
                else { continue }
                let name = String(words[index + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
                if Self.types.contains(words[index]) { typeNames.insert(name) } else { memberNames.insert(name) }
            }
        }
    }

    /// What a text names and the package does not have.
    ///
    /// A file has a path, or ends with `.swift`. A type is capitalized and in backticks, alone or before a member. A
    /// function is in backticks, with parentheses. A test target is named without backticks.
    func missing(in text: String) -> [String] {
        var missing: [String] = []
        for match in text.matches(of: /`([^`]+)`/) {
            let name = String(match.output.1)
            if name.wholeMatch(of: /[A-Za-z_.]+(?:\/[A-Za-z0-9_+.-]+)+/) != nil {
                let file = DocumentationPage.package.appending(path: name)
                if !FileManager.default.fileExists(atPath: file.path) { missing.append(name) }
            } else if name.wholeMatch(of: /[A-Za-z_]+(?:\+[A-Za-z]+)?\.(?:swift|md)/) != nil {
                if !paths.contains(where: { "/\($0)".hasSuffix("/\(name)") }) {
                    missing.append(name)
                }
            } else if let type = name.wholeMatch(
                of: /(?:extension |\[)?([A-Z][A-Za-z]+)\]?(?:\.([A-Za-z]+)(?:\(.*\))?)?/)
            {
                if !typeNames.contains(String(type.output.1)) { missing.append(name) }
                if let member = type.output.2, !memberNames.union(typeNames).contains(String(member)) {
                    missing.append(name)
                }
            } else if let function = name.wholeMatch(of: /([a-z][A-Za-z]+)\(.*\)/) {
                if !memberNames.contains(String(function.output.1)) { missing.append(name) }
            }
        }
        for match in text.matches(of: /[^`A-Za-z\/]([A-Z][A-Za-z]*)Tests\b[^`]/) {
            let name = match.output.1
            if !manifest.contains("\"\(name)\"") { missing.append("\(name)Tests") }
        }
        return missing
    }

    /// A type of Foundation counts if the package extends it.
    private static let types: Set<Substring> = [
        "class", "struct", "enum", "protocol", "actor", "typealias", "extension",
    ]
    private static let members: Set<Substring> = ["func", "var", "let", "case"]
}
