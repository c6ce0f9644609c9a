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
