package import Foundation

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
            if bytes.isEmpty { throw .malformed(PropertyListFault(reason: "is empty", isIncomplete: true)) }
            guard let format = formats.recognizing(bytes) else {
                let bracket = ForeignText.bracket(of: bytes)
                let reason =
                    bracket.map { "is text that begins with \($0), not a property list" }
                    ?? "is neither a binary nor an XML property list"
                throw .malformed(
                    PropertyListFault(reason: reason, isIncomplete: BinaryFormat.magic.starts(with: bytes)))
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

    /// - Parameters:
    ///   - former: the value of the replaced file, in the same format. Values that readers of XML read differently are
    ///     kept if they are in it.
    ///   - written: the bytes of the former value, if people write the format: all stays that does not change.
    package static func encode(
        _ value: StoredValue, as format: FileFormat, replacing former: StoredValue? = nil, written: Data? = nil
    ) throws(EncodingFailure) -> Data {
        try format.coder.data(from: value, replacing: former, written: written)
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
