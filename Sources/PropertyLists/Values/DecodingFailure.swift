/// Why bytes could not be read as a property list.
package enum DecodingFailure: Error {
    /// They are not a property list of a supported format, or a damaged one.
    case malformed(PropertyListFault)
    /// They may be a good property list of another program, but exceed a limit or hold what this package cannot keep.
    case unsupported(String)

    package static func malformed(_ reason: String) -> DecodingFailure { .malformed(PropertyListFault(reason: reason)) }
}

/// The problem of some bytes, and its place. Contains nothing of them but names of elements and keys.
package struct PropertyListFault: Equatable, Sendable {
    /// A clause without a full stop.
    package let reason: String
    /// Counted from 1; nil for a format without lines.
    package var line: Int?
    /// In characters (Unicode scalars), counted from 1.
    package var column: Int?
    /// Whether more bytes could complete what is there: another program may be writing it.
    package var isIncomplete = false

    package init(reason: String, line: Int? = nil, column: Int? = nil, isIncomplete: Bool = false) {
        self.reason = reason
        self.line = line
        self.column = column
        self.isIncomplete = isIncomplete
    }
}

extension PropertyListFault: CustomStringConvertible {
    /// `line 6, column 3: reason`.
    package var description: String {
        guard let line else { return reason }
        return "line \(line)" + (column.map { ", column \($0)" } ?? "") + ": \(reason)"
    }
}
