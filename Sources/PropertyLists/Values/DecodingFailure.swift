/// Why bytes could not be read as a property list.
enum DecodingFailure: Error {
    /// They are not a property list of a supported format, or a damaged one.
    case malformed(PropertyListFault)
    /// They may be a good property list of another program, but exceed a limit or hold what this package cannot keep.
    case unsupported(String)

    static func malformed(_ reason: String) -> DecodingFailure { .malformed(PropertyListFault(reason: reason)) }
}

/// What is wrong with bytes, and where. Holds nothing of their content but names of elements.
struct PropertyListFault: Equatable, Sendable {
    /// A clause without a full stop.
    let reason: String
    /// Counted from 1; nil for a format without lines.
    var line: Int?
    /// In characters (Unicode scalars), counted from 1.
    var column: Int?
    /// Whether more bytes could complete what is there: another program may be writing it.
    var isIncomplete = false
}

extension PropertyListFault: CustomStringConvertible {
    /// `line 6, column 3: reason`.
    var description: String {
        guard let line else { return reason }
        return "line \(line)" + (column.map { ", column \($0)" } ?? "") + ": \(reason)"
    }
}
