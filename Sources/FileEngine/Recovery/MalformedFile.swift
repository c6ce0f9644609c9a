public import Foundation
import PrefsPropertyLists

/// A file whose bytes are not a property list, and what an access did about it.
///
/// A value type, safe to pass between threads. It holds no byte of the file.
public struct MalformedFile: Sendable, Hashable {
    /// The state that reads return, and that a write starts from, as long as the file is malformed.
    public enum KnownState: Sendable, Hashable {
        /// What this process last read from the file or wrote to it.
        case lastKnown
        /// The last good copy beside the file, with the time of its commit.
        case lastGoodCopy(Date)
        /// Neither exists: reads are empty.
        case nothing
    }

    /// The file, absolute, with links followed.
    public let path: String
    /// What is wrong, as a clause without a full stop.
    public let reason: String
    /// The line of the fault, counted from 1; nil for a format without lines.
    public let line: Int?
    /// The column of the fault in characters, counted from 1; nil for a format without lines.
    public let column: Int?
    /// What is read in place of the file.
    public let state: KnownState
    /// Where a write quarantined the bytes; nil if nothing was changed.
    public internal(set) var quarantinedAs: String?

    init(path: String, fault: PropertyListFault, state: KnownState) {
        self.path = path
        reason = fault.reason
        (line, column) = (fault.line, fault.column)
        self.state = state
    }

    /// `path: line 6, column 3: reason`, without the line for a format that has none. Control characters of the path are escaped.
    public var place: String {
        "\(ShownText.line(path)): \(PropertyListFault(reason: reason, line: line, column: column))"
    }
}
