import Foundation
import PersistentPreferences

/// The file that the editor opens. Only its owner may read it and the files that an editor puts beside it.
struct PrivateFile {
    private let folder: String
    var path: String { folder + "/settings.json" }

    /// Makes a folder in `$TMPDIR`, else in /tmp.
    init(_ context: ProcessContext) throws(CommandError) {
        let parent = context.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent.absolutePath)/prefs-edit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError("\(parent): cannot make a folder: \(String(cString: strerror(errno)))")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ bytes: Data) throws { try ExportFile.write(bytes, to: path) }

    func read() throws -> Data { try ExportFile.read(path) }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
