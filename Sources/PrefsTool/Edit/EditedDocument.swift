import Foundation
import PersistentPreferences
import PrefsDocuments
import PrefsJSON
import PrefsPropertyLists

/// What `edit` opens: a text of JSON or of an XML property list, which is checked and stored.
protocol EditedDocument {
    typealias Remark = AnnotatedText.Remark

    var syntax: EditedSyntax { get }
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

    init(_ fault: PropertyListFault) {
        self.init([fault.isUnsupported ? .init(text: "\(fault)") : .init(line: fault.line, text: fault.reason)])
    }

    /// - Parameter text: the text that has the rejected values.
    init(_ error: any Error, in text: Data, _ syntax: EditedSyntax) {
        let failures = (error as? PrefsError)?.failures ?? []
        let key = failures.first?.topLevelKey
        self.init([.init(line: key.flatMap { syntax.line(ofKey: $0, in: text) }, text: "\(error)")])
    }
}

/// The syntax of an edited text.
enum EditedSyntax {
    case json, xml

    private var coder: any FileFormatCoder { (self == .json ? FileFormat.plainJSON : .xml).coder }

    /// The members of a text, with its nulls.
    func members(of text: Data) throws(EditRejection) -> [String: StoredValue] {
        let value: StoredValue
        do throws(PropertyListFault) {
            value = try text.withBytes { bytes throws(PropertyListFault) in try coder.value(in: bytes).value }
        } catch {
            throw EditRejection(error)
        }
        guard case .dictionary(let members) = value else {
            throw EditRejection([.init(text: "expected \(self == .json ? "an object { … }" : "a <dict> at the top")")])
        }
        return members
    }

    /// The text with other members. What stays the same keeps its form and its comments.
    func text(_ text: Data, from former: [String: StoredValue], to new: [String: StoredValue]) throws -> Data {
        if former == new { return text }
        return try coder.bytes(from: .dictionary(new), replacing: .dictionary(former), written: text).joined
    }

    /// The line of a key at the top; nil if there is none.
    func line(ofKey key: String, in text: Data) -> Int? {
        text.withUnsafeBytes { bytes in
            let syntax: any TextSyntax = self == .json ? JSONSyntax(bytes) : XMLSyntax(bytes)
            return syntax.line(ofKey: key)
        }
    }

    fileprivate func comment(_ text: String) -> String {
        self == .json ? "// \(text)" : "<!-- \(text.replacing(/-(?=-)/, with: "- ")) -->"
    }

    /// The name of the file that the editor opens, which tells it the syntax.
    var fileName: String { self == .json ? "settings.json" : "settings.plist" }
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

    /// - Parameter text: in UTF-8, perhaps malformed.
    init(_ text: Data, _ remarks: [Remark], in syntax: EditedSyntax = .json) {
        bytes = text
        let isOfWindows = text.range(of: Data("\r\n".utf8)) != nil
        let mark = Data([0xEF, 0xBB, 0xBF])
        var starts = [text.starts(with: mark) ? mark.count : 0]
        for (index, byte) in text.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        // From the end, because a comment moves the lines after it.
        for remark in remarks.reversed().sorted(by: { $0.line ?? 1 > $1.line ?? 1 }) {
            let start = starts[min(max(1, remark.line ?? 1), starts.count) - 1]
            let indentation = text[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let comment = syntax.comment("error: " + remark.text.printable) + (isOfWindows ? "\r\n" : "\n")
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

/// Merges what a person has changed with what another process has stored in the meantime.
struct ValueMerge {
    /// A value that both have changed.
    struct Conflict {
        let path: ValuePath
        let mine: StoredValue?
        let theirs: StoredValue?
    }

    /// The conflicts without an answer.
    struct Unresolved: Error {
        let conflicts: [Conflict]
    }

    /// The answers of the person: whether a value of theirs is replaced.
    struct Answers {
        private var answers: [ValuePath: (theirs: StoredValue?, replaces: Bool)] = [:]

        mutating func add(_ conflict: Conflict, replaces: Bool) {
            answers[conflict.path] = (conflict.theirs, replaces)
        }

        /// nil if nobody was asked about this value.
        func replaces(_ theirs: StoredValue?, at path: ValuePath) -> Bool? {
            answers[path].flatMap { $0.theirs == theirs ? $0.replaces : nil }
        }
    }

    /// Whether containers are merged in parts. A declared value is one whole.
    private let isDeep: Bool
    private let answer: (Conflict) -> Bool?
    private var conflicts: [Conflict] = []

    /// The values of another process, with the changes of the person.
    ///
    /// - Parameters:
    ///   - base: the values that the person saw.
    ///   - answer: whether the person's value replaces the other one; nil if nobody knows.
    /// - Throws: `Unresolved`.
    static func values(
        _ base: [String: StoredValue], to mine: [String: StoredValue], over theirs: [String: StoredValue],
        isDeep: Bool, answer: @escaping (Conflict) -> Bool?
    ) throws(Unresolved) -> [String: StoredValue] {
        var merge = ValueMerge(isDeep: isDeep, answer: answer)
        let values = merge.members(base, mine, theirs) { ValuePath($0) }
        if merge.conflicts.isEmpty { return values }
        throw Unresolved(conflicts: merge.conflicts)
    }

    private init(isDeep: Bool, answer: @escaping (Conflict) -> Bool?) {
        (self.isDeep, self.answer) = (isDeep, answer)
    }

    private mutating func members(
        _ base: [String: StoredValue], _ mine: [String: StoredValue], _ theirs: [String: StoredValue],
        path: (String) -> ValuePath
    ) -> [String: StoredValue] {
        var result = theirs
        for key in base.merging(mine, uniquingKeysWith: { $1 }).sortedByBytes.map(\.key) where base[key] != mine[key] {
            result[key] = value(base[key], mine[key], theirs[key], at: path(key))
        }
        return result
    }

    private mutating func value(
        _ base: StoredValue?, _ mine: StoredValue?, _ theirs: StoredValue?, at path: ValuePath
    ) -> StoredValue? {
        if mine == base || mine == theirs { return theirs }
        switch (base, mine, theirs) {
        case (.dictionary(let base)?, .dictionary(let mine)?, .dictionary(let theirs)?) where isDeep:
            return .dictionary(members(base, mine, theirs) { path.appending(.key($0)) })
        case (.array(let base)?, .array(let mine)?, .array(let theirs)?)
        where isDeep && base.count == mine.count && base.count == theirs.count:
            return .array(
                base.indices.compactMap { value(base[$0], mine[$0], theirs[$0], at: path.appending(.index($0))) })
        default: break
        }
        if theirs == base { return mine }
        let conflict = Conflict(path: path, mine: mine, theirs: theirs)
        guard let replaces = answer(conflict) else {
            conflicts.append(conflict)
            return theirs
        }
        return replaces ? mine : theirs
    }
}
