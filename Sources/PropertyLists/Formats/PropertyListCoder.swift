package import Foundation

extension FileFormat {
    /// A binary property list. Compact and exact: dates keep their fraction. The default for a new file.
    public static var binary: FileFormat { FileFormat(BinaryFormat.coder) }
    /// An XML property list whose text a write lays out anew. Dates are rounded down to the second. The public format
    /// `xml` of `PrefsDocuments` keeps the text.
    package static var plainXML: FileFormat { FileFormat(XMLFormat.coder) }

    /// Unavailable: it is in another product.
    @available(*, unavailable, message: "add the product PrefsDocuments, and import it")
    public static var xml: FileFormat { fatalError("is in PrefsDocuments") }
}

extension [FileFormat] {
    /// The formats that the file of any store may have.
    package static var propertyLists: [FileFormat] { [.binary, .plainXML] }
}

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
    ) throws(PropertyListFault) -> DecodedPropertyList {
        try bytes.withBytes { bytes throws(PropertyListFault) in
            if bytes.isEmpty { throw PropertyListFault(reason: "is empty") }
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

    /// As `FileFormatCoder.bytes`, in one part.
    package static func encode(
        _ value: StoredValue, as format: FileFormat, replacing former: StoredValue? = nil, written: Data? = nil
    ) throws(PropertyListFailure) -> Data {
        try format.coder.bytes(from: value, replacing: former, written: written).joined
    }
}
