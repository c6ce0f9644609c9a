import Foundation

/// What Scripts/availability.sh runs: `availability FOLDER SYMBOLS INDEX… -- PLATFORM=VERSION…`. Exits with 1 if a symbol is
/// too new, with 2 if it could not check everything.
@main enum Availability {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard let mark = arguments.firstIndex(of: "--"), mark > 3 else { fail("wrong arguments") }
        let targets = arguments[(mark + 1)...].compactMap { argument in
            let parts = argument.split(separator: "=")
            return Int(parts[1]).map { (platform: String(parts[0]), version: Version(major: $0)) }
        }
        guard !targets.isEmpty else { fail("Package.swift states no deployment targets") }
        let folder = URL(filePath: arguments[1]).resolvingSymlinksInPath().path
        let index = readIndex(of: folder, arguments[3..<mark])
        var table = SymbolTable()
        let symbols = URL(filePath: arguments[2])
        for graph in try FileManager.default.contentsOfDirectory(at: symbols, includingPropertiesForKeys: nil) {
            if graph.path.hasSuffix(".symbols.json") { try table.add(graph) }
        }
        exit(Report(folder: folder, index: index, table: table, targets: targets).print() ? 1 : 0)
    }

    private static func readIndex(of folder: String, _ paths: some Sequence<String>) -> Index {
        var index = Index(of: folder)
        for path in paths where !index.add(path) { fail("no index at \(path): build with swift build --build-tests") }
        let sources = FileManager.default.enumerator(atPath: folder + "/Sources")?.compactMap { $0 as? String } ?? []
        let missing = sources.filter { $0.hasSuffix(".swift") && !index.files.contains("Sources/" + $0) }
        guard !index.files.isEmpty, missing.isEmpty else {
            fail("not in the index, build with swift build --build-tests: \(missing.sorted().joined(separator: ", "))")
        }
        return index
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("availability: \(message)\n".utf8))
        exit(2)
    }
}
