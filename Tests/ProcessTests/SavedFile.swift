import Foundation
import TestSupport

/// A JSON file on a disk that other programs save, with a number and a person's text. Its folder is outside of the
/// folders for temporary files, because editors save there in another way.
struct SavedFile {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The file itself.
    let file: URL
    /// The path by which the program under test opens the file: the file, or a link to it in another folder.
    let path: String
    private let folder: TemporaryFolder
    /// For the new states, outside of the folder of the file.
    let new: URL
    private let filler: [String]

    init(isLarge: Bool = false, isLinked: Bool = false) throws {
        guard let parent = Self.parent else { throw CocoaError(.fileNoSuchFile) }
        folder = try TemporaryFolder(in: parent)
        for name in ["settings", "links", "new"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
        }
        file = folder.file("settings/config.json")
        new = folder.file("new")
        filler = (0..<(isLarge ? 3_000 : 3)).map { "line \($0) " + String(repeating: "x", count: 90) }
        let link = folder.file("links/config.json")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../settings/config.json")
        path = isLinked ? link.path : file.path
        try text(0).write(to: file, atomically: false, encoding: .utf8)
    }

    static let isPossible = Hazard.canRun(
        "savers", if: parent != nil, else: "no writable folder outside of the folders for temporary files")

    private static let parent: URL? = {
        let build = URL(filePath: #filePath).appending(path: "../../../.build").standardizedFileURL
        let home = URL(filePath: NSHomeDirectory(), directoryHint: .isDirectory).appending(path: ".cache")
        let temporary = ["/tmp", "/dev/shm", "/run", ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"]
        return [build, home].first { folder in
            let path = folder.resolvingSymlinksInPath().path + "/"
            return access(folder.path, W_OK) == 0 && !temporary.contains { path.hasPrefix($0 + "/") }
        }
    }()

    func text(_ round: Int) -> String {
        let lines = filler.map { "    \"\($0)\"" }.joined(separator: ",\n")
        return """
            {
              "round": \(round),
              "person": "\(SaveTally.kept)",
              "filler": [
            \(lines)
              ]
            }

            """
    }

    /// The names in the folder of the file.
    var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).sorted()
        }
    }

    func beside(_ name: String) -> URL { file.deletingLastPathComponent().appending(path: name) }

    /// The round in the file, as Foundation reads it. Throws an error if an entry of the person has changed.
    func round() throws -> Int {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        guard object["person"] as? String == SaveTally.kept, object["filler"] as? [String] == filler,
            let round = object["round"] as? Int, Set(object.keys).isSubset(of: ["round", "person", "filler", "own"])
        else { throw Failure(description: "the file has lost an entry: \(object.keys.sorted())") }
        return round
    }

    /// Replaces the file at once by the state with a number.
    func replace(with round: Int) throws {
        try text(round).write(to: file, atomically: true, encoding: .utf8)
    }
}
