package import Foundation

/// Why bytes could not be read as a property list, and the place. Quotes only names of elements and keys.
package struct PropertyListFault: Error, Equatable {
    /// A clause without a full stop.
    package let reason: String
    /// The line, counted from 1; nil for a format without lines.
    package var line: Int?
    /// The column in characters (Unicode scalars), counted from 1.
    package var column: Int?
    /// Whether the bytes may be a valid property list of another program, but exceed a limit or hold something that this
    /// package cannot preserve. Otherwise they are not a property list of a supported format, or they are damaged.
    package var isUnsupported = false

    package init(reason: String, line: Int? = nil, column: Int? = nil) {
        self.reason = reason
        self.line = line
        self.column = column
    }

    package static func malformed(_ reason: String) -> PropertyListFault { PropertyListFault(reason: reason) }

    package static func unsupported(_ reason: String) -> PropertyListFault { malformed(reason).unsupported }

    package var unsupported: PropertyListFault {
        var fault = self
        fault.isUnsupported = true
        return fault
    }
}

extension PropertyListFault: CustomStringConvertible {
    /// `line 6, column 3: reason`.
    package var description: String {
        guard let line else { return reason }
        return "line \(line)" + (column.map { ", column \($0)" } ?? "") + ": \(reason)"
    }
}

// MARK: - Limits

/// The limits within which Foundation's coders, small thread stacks and Apple's daemon are safe.
package enum PropertyListLimits {
    /// The most bytes of a file that is read or written.
    package static let fileBytes = 256 << 20
    /// The most levels of containers in one value. A level of Foundation's objects takes 900 bytes of stack, and a
    /// thread may have 96 KiB.
    package static let depth = 64
    /// The most levels in a file. They include a root and the top level, and other programs may nest a little deeper
    /// than this package.
    package static let fileDepth = 80
    /// The most values in a file, counting a shared value once for each reference; and the most objects in a binary
    /// file, with or without a reference.
    package static let fileNodes = 1 << 22
    /// The most values in a binary file, in addition to one for each of its bytes. Only shared containers give more,
    /// and no known writer shares containers on purpose. Without the limit, five hundred bytes could take seconds and
    /// hundreds of megabytes.
    package static let sharedNodes = 1 << 18
    /// The most bytes of texts and data in a file, in addition to its own length. Shared ones count each time.
    package static let sharedBytes = 16 << 20
    /// The most bytes of one root, estimated as its binary property list. Apple platforms reject larger domains.
    package static let rootBytes = 4 << 20
    /// The most seconds from the reference date. Beyond about 6.7e16 an XML property list holds a different date.
    package static let dateInterval: TimeInterval = 6e16
}

// MARK: - Values that are rejected

/// The reason why a value cannot be stored or read, and its path. Users see it as a `PrefsProblem`.
package struct PropertyListFailure: Error, Hashable, CustomStringConvertible {
    /// The path of the value: the top-level key, then `.key` and `[index]` steps, as in `Dictionary Value.a[3]`.
    package let path: String
    /// The first step of `path`: a key of the root.
    package let topLevelKey: String
    /// The problem, as a clause without a full stop: `a closure cannot be stored in a property list`. It names types
    /// and limits, and does not quote the value. For a check of yours, it is the text of the check.
    package let reason: String

    package init(path: String, topLevelKey: String, reason: String) {
        self.path = path
        self.topLevelKey = topLevelKey
        self.reason = reason
    }

    /// `path: reason`, on one line; the reason alone if the path is empty. A long path is cut at 1,000 Unicode scalars and a long reason at 1,200. Control and
    /// format characters are escaped.
    package var description: String {
        (path.isEmpty ? "" : "\(ShownText.path(path)): ") + ShownText.message(reason)
    }
}
