package import Foundation

/// The format of a file of preferences.
///
/// ```swift
/// let store = PropertyListFileStore(url: url, format: .xml)
/// ```
///
/// A value of this type recognizes, reads and writes the bytes of its format. Two formats are equal if they have the
/// same name. Another module may add a format. Any thread.
public struct FileFormat: Sendable, Hashable, CustomStringConvertible {
    /// A binary property list. Compact and exact: dates keep their fraction. The default for a new file.
    public static var binary: FileFormat { FileFormat(BinaryFormat()) }
    /// An XML property list, readable in a text editor. Dates are rounded down to the second.
    public static var xml: FileFormat { FileFormat(XMLFormat()) }

    package let coder: any FileFormatCoder

    package init(_ coder: some FileFormatCoder) {
        self.coder = coder
    }

    /// The name, such as `binary`.
    public var description: String { coder.name }

    /// Whether both formats have the same name.
    @inline(never)
    public static func == (left: FileFormat, right: FileFormat) -> Bool { left.coder.name == right.coder.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(coder.name) }

    /// The accepted form of the values in a file of the format.
    package var form: ValueForm { coder.form }
}

/// The work of a file format. Another target may add a format.
package protocol FileFormatCoder: Sendable {
    var name: String { get }
    /// The extension of a new file, without a dot.
    var fileExtension: String { get }
    /// The accepted form of the values.
    var form: ValueForm { get }
    /// Whether people write such files. `bytes` then changes the text of the replaced file, which may have comments and a
    /// form of its own, and a malformed file is a person's mistake.
    var isForPeople: Bool { get }
    /// Whether bytes are in the format, or are damaged bytes of the format.
    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Reads bytes that were recognized.
    ///
    /// - Returns: the value, and why writing it back would lose an entry; nil if nothing would be lost.
    func value(in bytes: UnsafeRawBufferPointer) throws(DecodingFailure) -> (value: StoredValue, loss: String?)
    /// The content that a read will return after a write of this content.
    func storable(_ content: [String: StoredValue]) -> [String: StoredValue]
    /// Returns the bytes of a file with a value. The failure may have no path, because one value of many is at fault.
    ///
    /// - Parameters:
    ///   - former: the value of the replaced file, in the same format. Values that readers of XML read differently are
    ///     kept if they are in it.
    ///   - written: the bytes of the former value, if people write the format: all stays that does not change.
    func bytes(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(PropertyListFailure) -> FileBytes
}

extension FileFormatCoder {
    package var fileExtension: String { "plist" }
    package var form: ValueForm { .exact }
    package var isForPeople: Bool { false }
    package func storable(_ content: [String: StoredValue]) -> [String: StoredValue] { content }
}

extension [FileFormat] {
    /// The formats that the file of any store may have.
    package static var propertyLists: [FileFormat] { [.binary, .xml] }

    /// The first format that recognizes bytes, which may be damaged; nil if no format does.
    package func recognizing(_ bytes: UnsafeRawBufferPointer) -> FileFormat? {
        first { $0.coder.recognizes(bytes) }
    }
}

// MARK: - Bytes

/// A property list that was read from bytes.
package struct DecodedPropertyList {
    package let value: StoredValue
    package let format: FileFormat
    /// Why writing the value back would lose an entry; nil if it would lose nothing.
    package var loss: String?
}

/// Converts bytes to property lists and back, in every format. Each format has its own reader and writer in this
/// package.
package enum PropertyListCoder {
    /// Reads a property list in the first format that recognizes the bytes. The error describes them in this format.
    package static func decode(
        _ bytes: Data, as formats: [FileFormat] = .propertyLists
    ) throws(DecodingFailure) -> DecodedPropertyList {
        try bytes.withBytes { bytes throws(DecodingFailure) in
            if bytes.isEmpty { throw .malformed(PropertyListFault(reason: "is empty")) }
            guard let format = formats.recognizing(bytes) else {
                let bracket = ForeignText.bracket(of: bytes)
                let reason =
                    bracket.map { "is text that begins with \($0), not a property list" }
                    ?? "is neither a binary nor an XML property list"
                throw .malformed(reason)
            }
            let (value, loss) = try format.coder.value(in: bytes)
            return DecodedPropertyList(value: value, format: format, loss: loss)
        }
    }

    /// The value that a read will return: an XML property list holds dates to the second.
    package static func storable(
        _ content: [String: StoredValue], as format: FileFormat
    ) -> [String: StoredValue] {
        format.coder.storable(content)
    }

    /// As `FileFormatCoder.bytes`, in one part.
    package static func encode(
        _ value: StoredValue, as format: FileFormat, replacing former: StoredValue? = nil, written: Data? = nil
    ) throws(PropertyListFailure) -> Data {
        try format.coder.bytes(from: value, replacing: former, written: written).joined
    }
}

#if DEBUG
    extension PropertyListCoder {
        /// What tests do with each binary list that is written: they read it back. A struct, because a closure gets one more
        /// thunk each time that it goes through a generic function.
        package struct Check: Sendable {
            let run: @Sendable (Data, StoredValue) -> Void

            package init(_ run: @escaping @Sendable (Data, StoredValue) -> Void) { self.run = run }
        }

        package static let check = Locked<Check?>(nil)
    }
#endif

extension DecodingFailure {
    /// The problem and its place, as one clause.
    package var reason: String {
        switch self {
        case .malformed(let fault): "\(fault)"
        case .unsupported(let reason): reason
        }
    }
}

// MARK: - Failures

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

    package init(reason: String, line: Int? = nil, column: Int? = nil) {
        self.reason = reason
        self.line = line
        self.column = column
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

/// The reason why a value cannot be stored or read, and its path.
///
/// ```swift
/// prefs["recent"] = [{ print("hi") }]
/// for failure in prefs.lastError?.failures ?? [] {
///     print(failure.path, failure.reason)  // recent[0] a closure cannot be stored in a property list
/// }
/// ```
///
/// Mirrors the coding path of `EncodingError`. A value type; may be passed between threads.
public struct PropertyListFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the value: the top-level key, then `.key` and `[index]` steps, as in `Dictionary Value.a[3]`.
    public let path: String
    /// The first step of `path`: a key of the root.
    public let topLevelKey: String
    /// The problem, as a clause without a full stop: `a closure cannot be stored in a property list`. It names types
    /// and limits, and does not quote the value. For a check of yours, it is the text of the check.
    public let reason: String

    /// Creates a failure, for example one that a test expects.
    public init(path: String, topLevelKey: String, reason: String) {
        self.path = path
        self.topLevelKey = topLevelKey
        self.reason = reason
    }

    /// `path: reason`, on one line; the reason alone if the path is empty. A long path is cut at 1,000 Unicode scalars and a long reason at 1,200. Control and
    /// format characters are escaped.
    public var description: String {
        (path.isEmpty ? "" : "\(ShownText.path(path)): ") + ShownText.message(reason)
    }
}
