import Foundation
import PrefsPropertyLists
import TestSupport

/// A file on a disk that other programs save, with a number and a person's text. Its folder is outside of the folders for
/// temporary files, because editors save there in another way.
struct SavedFile {
    enum Format: String, CaseIterable {
        case json = "JSON"
        case xml = "XML"
        case binary
    }

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
    private let format: Format
    private let filler: [String]
    /// Whether each line of the filler has the number, too, so that a part of another state is noticed.
    private let isNumbered: Bool

    init(
        _ format: Format = .json, isLarge: Bool = false, isLinked: Bool = false, isNumbered: Bool = false
    ) throws {
        guard let parent = Self.parent else { throw CocoaError(.fileNoSuchFile) }
        folder = try TemporaryFolder(in: parent)
        for name in ["settings", "links", "new"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
        }
        self.format = format
        self.isNumbered = isNumbered
        let name = format == .json ? "config.json" : "config.plist"
        file = folder.file("settings/\(name)")
        new = folder.file("new")
        filler = (0..<(isLarge ? 3_000 : 3)).map { "line \($0) " + String(repeating: "x", count: 90) }
        let link = folder.file("links/\(name)")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../settings/\(name)")
        path = isLinked ? link.path : file.path
        try bytes(0).write(to: file)
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

    /// The state with a number. A binary list has the layout that the program writes, so that each mixture of two states is one of
    /// their values.
    func bytes(_ round: Int) throws -> Data {
        switch format {
        case .json: return Data(text(round).utf8)
        case .xml:
            let list: [String: Any] = ["round": round, "person": SaveTally.kept, "filler": filler(round)]
            return try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        case .binary:
            return try binaryPropertyList(
                ["round": round, "own": 7], ["person": SaveTally.kept], ["filler": filler(round)])
        }
    }

    private func filler(_ round: Int) -> [String] {
        isNumbered ? filler.map { String(format: "%04d ", round) + $0 } : filler
    }

    func text(_ round: Int) -> String {
        let lines = filler(round).map { "    \"\($0)\"" }.joined(separator: ",\n")
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
    func round() throws -> Int { try saved().round }

    /// The round, and the value of the key that the program stores, if the file has it.
    func saved() throws -> (round: Int, own: Int?) {
        let object = try propertyList(at: file)
        guard object["person"] as? String == SaveTally.kept, let round = object["round"] as? Int,
            object["filler"] as? [String] == filler(round),
            Set(object.keys).isSubset(of: ["round", "person", "filler", "own"])
        else {
            let shown = object.mapValues { value in
                (value as? [String]).map { "\($0.map { String($0.prefix(9)) })" } ?? "\(value)"
            }
            throw Failure(description: "the file has lost or mixed entries: \(shown)")
        }
        return (round, object["own"] as? Int)
    }

    /// Replaces the file at once by the state with a number.
    func replace(with round: Int) throws {
        try text(round).write(to: file, atomically: true, encoding: .utf8)
    }
}

/// A binary property list of texts, numbers and lists of texts, as this package writes it: lists with the same keys have the same
/// layout.
private func binaryPropertyList(_ numbers: [String: Int], _ texts: [String: String], _ lists: [String: [String]]) throws
    -> Data
{
    let values =
        numbers.mapValues { StoredValue.integer(Int64($0)) }
        .merging(texts.mapValues(StoredValue.string)) { $1 }
        .merging(lists.mapValues { .array($0.map(StoredValue.string)) }) { $1 }
    return try PropertyListCoder.encode(.dictionary(values), as: .binary)
}
