import Foundation
import PersistentPreferences

/// A text with remarks in comments above its lines.
struct AnnotatedText {
    struct Remark {
        /// The line that it is about, counted from 1; nil for the whole text.
        var line: Int?
        let text: String
    }

    /// The text with the comments.
    private(set) var bytes: Data
    private var comments: [Data] = []

    /// - Parameter text: JSON in UTF-8, perhaps malformed.
    init(_ text: Data, _ remarks: [Remark]) {
        bytes = text
        let isOfWindows = text.range(of: Data("\r\n".utf8)) != nil
        let mark = Data([0xEF, 0xBB, 0xBF])
        var starts = [text.starts(with: mark) ? mark.count : 0]
        for (index, byte) in text.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        // From the end, because a comment moves the lines after it.
        for remark in remarks.reversed().sorted(by: { $0.line ?? 1 > $1.line ?? 1 }) {
            let start = starts[min(max(1, remark.line ?? 1), starts.count) - 1]
            let indentation = text[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let comment = "// error: " + remark.text.printable + (isOfWindows ? "\r\n" : "\n")
            comments.append(indentation + Data(comment.utf8))
            bytes.insert(contentsOf: comments[comments.count - 1], at: start)
        }
    }

    /// An edited text without the comments. A comment that was changed stays.
    func withoutRemarks(_ edited: Data) -> Data {
        var text = edited
        for comment in comments {
            if let range = text.range(of: comment) { text.removeSubrange(range) }
        }
        return text
    }
}
