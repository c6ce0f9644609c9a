import Foundation
import PersistentPreferences
import PrefsFileEngine

/// A file with a typing error: its lines, to be corrected in the editor.
struct FaultyFile {
    /// The line of the error, as an item.
    let fault: ValuePath
    let reason: String
    private let path: String
    private let bytes: Data
    private let lines: [String]
    private let place: Place

    /// - Returns: nil if the failure is not about a text with lines.
    init?(_ failure: PrefsError, in place: Place) {
        switch failure {
        case .damaged(let file), .notOurs(let file):
            guard let line = file.line, let bytes = try? ExportFile.read(file.path), let text = String(validUTF8: bytes)
            else { return nil }
            lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
            (path, self.bytes, self.place) = (file.path, bytes, place)
            // An error at the end may be after the last line.
            fault = Self.path(ofLine: max(1, min(line, lines.count)))
            reason = failure.shortText
        default: return nil
        }
    }

    var items: [EditorItem] {
        lines.enumerated().map { index, text in
            EditorItem(
                path: Self.path(ofLine: index + 1), name: "\(index + 1)", typeName: "line", content: .set(text),
                note: "\(reason); Enter edits the line, r removes it")
        }
    }

    /// The place of a line, counted from 1. No key is empty, so an edit of a value never ends in a line.
    private static func path(ofLine number: Int) -> ValuePath { ValuePath("", [.index(number)]) }

    private func index(of path: ValuePath) throws(CommandError) -> Int {
        guard case .index(let number)? = path.steps.first, path == Self.path(ofLine: number) else {
            throw CommandError("only the lines of the file can be changed until it is correct")
        }
        return number - 1
    }

    /// Replaces or removes a line. `undo` restores the former bytes of the file.
    func perform(_ change: EditorChange) throws -> (path: ValuePath, warning: PrefsError?) {
        var lines = lines
        let path: ValuePath
        switch change {
        case .set(let place, let text, _):
            path = place
            lines[try index(of: place)] = text
        case .remove(let place):
            path = place
            lines.remove(at: try index(of: place))
        default: throw CommandError("only the lines of the file can be changed until it is correct")
        }
        let target = place.target?.suite.map(Target.suite) ?? .file(self.path)
        let replacement = FileReplacement(
            path: self.path, before: Data(lines.joined(separator: "\n").utf8), after: bytes)
        return (path, try target.domain(isForced: true).restore(replacement))
    }
}
