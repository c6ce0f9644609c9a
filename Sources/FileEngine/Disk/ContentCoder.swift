package import Foundation
package import PrefsPropertyLists

/// The type of the top level of a file.
package enum TopLevel: Sendable {
    /// A dictionary of roots and other entries: the content.
    case domain
    /// Any value. It is the only entry of the content, under `documentKey`.
    case document

    package static let documentKey = "document"
}

/// How the content of a file becomes its bytes, and back.
package struct ContentCoder {
    let topLevel: TopLevel
    let rules: FileRules
    /// The path of the file, for errors.
    let path: String

    // MARK: - Reading

    func decoded(
        _ bytes: Data
    ) throws(PropertyListFault) -> (content: DomainContent, format: FileFormat, loss: String?) {
        try Self.decode(bytes, as: topLevel, in: rules.formats)
    }

    /// Decodes the bytes of a file as the content of a domain or of a document.
    package static func decode(
        _ bytes: Data, as topLevel: TopLevel = .domain, in formats: [FileFormat] = .propertyLists
    ) throws(PropertyListFault) -> (content: DomainContent, format: FileFormat, loss: String?) {
        let list = try PropertyListCoder.decode(bytes, as: formats)
        if topLevel == .document { return ([TopLevel.documentKey: list.value], list.format, list.loss) }
        guard let content = list.value.dictionary else { throw .malformed("its top level is not a dictionary") }
        return (content, list.format, list.loss)
    }

    // MARK: - Writing

    /// The bytes of a content in the format of the file.
    ///
    /// Other code may have turned the file of a UserDefaults domain into XML. If XML cannot hold the content, it
    /// becomes binary again.
    func encoded(
        _ content: DomainContent, replacing base: FileState
    ) throws -> (bytes: FileBytes, format: FileFormat) {
        let format = rules.format(replacing: base)
        let text = base.format?.name == format.name ? base.text : nil
        do {
            return (try encoded(content, as: format, replacing: text == nil ? nil : base.content, text), format)
        } catch  where format.isXML {
            if rules.mirror != nil { return (try encoded(content, as: .binary, replacing: nil), .binary) }
            guard text == nil else { throw error }
            return (try encoded(content, as: .plainXML, replacing: base.content), .plainXML)
        }
    }

    /// The size of a content, or of some of its entries, in the format of the file.
    ///
    /// - Throws: `FileError.notStored` if the format cannot hold them.
    func encodedSize(of entries: DomainContent, replacing base: FileState) throws -> Int {
        var format = rules.format(replacing: base)
        if format.isXML, rules.mirror != nil { format = .binary }
        let entries = format.coder.storable(entries)
        return try encoded(entries, as: format, replacing: base.content).count
    }

    func encoded(
        _ content: DomainContent, as format: FileFormat, replacing former: DomainContent?, _ written: FileBytes? = nil
    ) throws -> FileBytes {
        func refused(_ reason: String) -> FileError {
            .notStored(StorageFailure(path: path, reason: reason))
        }
        let bytes: FileBytes
        do {
            func whole(_ content: DomainContent) -> StoredValue {
                (topLevel == .document ? content[TopLevel.documentKey] : nil) ?? .dictionary(content)
            }
            bytes = try format.coder.bytes(
                from: whole(content), replacing: former.map(whole), written: written?.joined)
        } catch {
            throw refused("\(error)")
        }
        guard bytes.count <= PropertyListLimits.fileBytes else {
            throw refused("would be larger than \(PropertyListLimits.fileBytes >> 20) MiB")
        }
        return bytes
    }
}
