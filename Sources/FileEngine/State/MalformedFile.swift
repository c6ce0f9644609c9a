package import Foundation
import PrefsPropertyLists

/// A file whose bytes are not a property list, and the state that replaces it.
///
/// ```swift
/// if case .damaged(let file)? = prefs.lastError {
///     print(file.path, file.line ?? 0, file.reason)
/// }
/// ```
///
/// It also describes a file that a write found missing although its last good copy existed; then `quarantinedAs` is the
/// path of that copy. And it describes a good file from which a migration has made a value that does not fit; then
/// `quarantinedAs` is the path of the unmigrated file. It contains names and keys of the file, and no value. A value
/// type; may be passed between threads.
public struct MalformedFile: Sendable, Hashable {
    /// The state that reads return while the file is malformed, and that the next write starts from.
    package enum KnownState: Sendable, Hashable {
        /// What this process last read from the file or wrote to it.
        case lastKnown
        /// The last good copy beside the file; the date is the time of its commit.
        case lastGoodCopy(Date)
        /// There is neither a known state nor a last good copy. Reads are empty.
        case nothing
    }

    /// The absolute path of the file, with links followed.
    public let path: String
    /// The problem, as a clause without a full stop.
    public let reason: String
    /// The line of the fault, counted from 1; nil for a format without lines.
    public let line: Int?
    /// The column of the fault in characters, counted from 1; nil for a format without lines.
    public let column: Int?
    /// The state that is read instead of the file.
    package let state: KnownState
    /// The path of the quarantined bytes, or nil if nothing was changed.
    public internal(set) var quarantinedAs: String?

    /// Whether a crash has left no bytes, so that a write has nothing to quarantine but the copy.
    package let isEmptied: Bool

    /// Whether the file was good, and is kept because of what replaces it.
    package let isWellFormed: Bool

    init(
        path: String, fault: PropertyListFault, state: KnownState, isEmptied: Bool = false, isWellFormed: Bool = false
    ) {
        self.path = path
        self.isEmptied = isEmptied
        self.isWellFormed = isWellFormed
        reason = fault.reason
        (line, column) = (fault.line, fault.column)
        self.state = state
    }

    /// `path: line 6, column 3: reason`; the line is left out for a format without lines. Control characters of the
    /// path are escaped.
    package var place: String {
        "\(ShownText.line(path)): \(PropertyListFault(reason: reason, line: line, column: column))"
    }
}
