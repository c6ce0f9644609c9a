import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// What `edit` opens: a JSON text, which is checked and stored.
protocol EditedDocument {
    typealias Remark = AnnotatedText.Remark

    /// The text to begin with.
    var text: Data { get }
    /// Why it cannot be stored as it is.
    var remarks: [Remark] { get }

    /// Stores what a text changes, all or nothing.
    ///
    /// - Parameter answers: for values that another process has changed, too.
    /// - Throws: `EditRejection` if the text or a value is wrong; `ValueMerge.Unresolved`.
    func store(_ text: Data, _ answers: ValueMerge.Answers) throws -> Outcome

    /// Takes over what other processes have stored.
    ///
    /// - Returns: the text with it; a value that the person has changed stays.
    mutating func catchUp(_ text: Data) throws -> Data
}

/// Why an edited text is not stored.
struct EditRejection: Error {
    let remarks: [AnnotatedText.Remark]

    init(_ remarks: [AnnotatedText.Remark]) { self.remarks = remarks }

    init(_ failure: DecodingFailure) {
        guard case .malformed(let fault) = failure else {
            self.init([.init(text: failure.reason)])
            return
        }
        self.init([.init(line: fault.line, text: fault.reason)])
    }

    /// - Parameter text: the text that has the rejected values.
    init(_ error: any Error, in text: Data) {
        let failures = (error as? PrefsError)?.failures ?? []
        let key = failures.first?.topLevelKey
        self.init([.init(line: key.flatMap { JSONMembers.line(ofKey: $0, in: text) }, text: "\(error)")])
    }
}

enum EditedJSON {
    /// The members of a text, with its nulls.
    static func members(of text: Data) throws(EditRejection) -> [String: StoredValue] {
        let value: StoredValue
        do throws(DecodingFailure) { value = try JSONReader.value(of: text, limits: .file) } catch {
            throw EditRejection(error)
        }
        guard case .dictionary(let members) = value else {
            throw EditRejection([.init(text: "expected an object { … }")])
        }
        return members
    }

    /// The text with other members. What stays the same keeps its form and its comments.
    static func text(_ text: Data, from former: [String: StoredValue], to new: [String: StoredValue]) throws -> Data {
        if former == new { return text }
        return try FileFormat.json.coder.data(from: .dictionary(new), replacing: .dictionary(former), written: text)
    }
}

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
