/// Why bytes could not be read as a property list.
package enum DecodingFailure: Error {
    /// The bytes are not a property list of a supported format, or they are damaged.
    case malformed(PropertyListFault)
    /// The bytes may be a valid property list of another program, but exceed a limit or hold something that this
    /// package cannot preserve.
    case unsupported(String)

    package static func malformed(_ reason: String) -> DecodingFailure { .malformed(PropertyListFault(reason: reason)) }
}

/// The problem of some bytes, and its place. Quotes only names of elements and keys.
package struct PropertyListFault: Equatable, Sendable {
    /// A clause without a full stop.
    package let reason: String
    /// The line, counted from 1; nil for a format without lines.
    package var line: Int?
    /// The column in characters (Unicode scalars), counted from 1.
    package var column: Int?
    /// Whether more bytes could complete the file, because another program may be writing it.
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
