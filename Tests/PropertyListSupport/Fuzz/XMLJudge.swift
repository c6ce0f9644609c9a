package import Foundation
package import PrefsPropertyLists

/// Compares our XML reader with Foundation's, in every test and fuzzer that reads XML. Documents that both accept give
/// equal values. Documents that only Foundation accepts are rejected by ours for one of a few reasons.
package enum XMLJudge {
    /// The beginnings of our reasons for rejecting documents that Foundation reads. Foundation decodes invalid base64,
    /// moves dates that do not exist to the next month, ignores text after the list, in tags and between them, accepts
    /// a key or several plists as a value, and keeps the last value of a key that occurs twice.
    package static let reasonsOfOurs = [
        "<data> does not hold base64", "a dictionary with the lone key CF$UID", "<date> does not hold a time",
        "another element follows the value",
        "text outside of a value", "the tag <", "a key without a value", "<key> is not an element of a property list",
        "<plist> is not an element of a property list", "is XML, but its root element is <key>",
        "a byte that is not UTF-8", "a byte that is not ASCII", "its XML declaration does not end",
        "< does not begin a tag here", "ends inside", "an unpaired surrogate in its UTF-16",
        "half a character of UTF-16", "a reference to a character that does not exist", "an entity other than",
        "& does not begin", "the key \"",
    ]

    /// - Throws: `FuzzViolation`.
    package static func checkAccepted(_ bytes: Data, _ ours: DecodedPropertyList) throws {
        // The readers keep different values of keys with two spellings.
        guard ours.format == .plainXML, ours.loss == nil, let theirs = foundations(bytes) else { return }
        let (left, right) = (exactForm(withoutMarks(ours.value)), form(theirs))
        guard left != right else { return }
        throw FuzzViolation("read as \(left.prefix(200)), by Foundation as \(right.prefix(200))")
    }

    /// - Throws: `FuzzViolation`.
    package static func checkRejected(_ bytes: Data, _ fault: PropertyListFault) throws {
        guard !fault.isUnsupported, bytes.withUnsafeBytes(XMLPropertyListReader.isXML),
            !reasonsOfOurs.contains(where: { fault.reason.hasPrefix($0) }), foundations(bytes) != nil
        else { return }
        throw FuzzViolation("Foundation reads it; rejected, since \(fault)")
    }

    /// The value that Foundation reads; nil for documents that it rejects, reads as OpenStep (`<dd>` is a byte there),
    /// or is not given because of their size.
    private static func foundations(_ bytes: Data) -> Any? {
        guard bytes.withUnsafeBytes(XMLPropertyListReader.isXML), hasPlainDocumentType(bytes), hasPlainEncoding(bytes),
            bytes.count(where: { $0 == UInt8(ascii: "<") }) < 1_000
        else { return nil }
        var format = PropertyListSerialization.PropertyListFormat.xml
        let list = try? PropertyListSerialization.propertyList(from: bytes, options: [], format: &format)
        return format == .xml ? list : nil
    }

    /// False if a document type holds a quoted `>` or declarations, because Foundation ends it at the first `>`.
    private static func hasPlainDocumentType(_ bytes: Data) -> Bool {
        bytes.ranges(of: Data("<!DOCTYPE".utf8)).allSatisfy { start in
            let type = bytes[start.upperBound...].prefix { $0 != UInt8(ascii: ">") }
            return !type.contains(UInt8(ascii: "[")) && type.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2)
                && !type.contains(UInt8(ascii: "'"))
        }
    }

    /// False if blanks surround the `=` of a declared encoding: XML allows them, and Foundation then reads UTF-8.
    private static func hasPlainEncoding(_ bytes: Data) -> Bool {
        String(decoding: bytes.prefix(1_000).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
            .firstMatch(of: /encoding(\s+=|=\s)/) == nil
    }

    /// Removes U+FEFF at the beginning of strings, which Foundation interprets as a byte order mark.
    private static func withoutMarks(_ value: StoredValue) -> StoredValue {
        func text(_ text: String) -> String {
            text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        }
        switch value {
        case .string(let string): return .string(text(string))
        case .array(let elements): return .array(elements.map(withoutMarks))
        case .dictionary(let members):
            return .dictionary(Dictionary(members.map { (text($0.key), withoutMarks($0.value)) }) { $1 })
        default: return value
        }
    }

    /// The `exactForm` of an object of Foundation.
    package static func form(_ value: Any) -> String {
        switch value {
        case let array as [Any]: return "[" + array.map(form).joined(separator: ", ") + "]"
        case let dictionary as [AnyHashable: Any]:
            let entries = dictionary.map { "\(exactForm($0.key.base)): \(form($0.value))" }
            return "{" + entries.sorted().joined(separator: ", ") + "}"
        case let number as NSNumber where type(of: value) is NSNumber.Type:
            return exactForm(StoredValue(number))
        default:
            guard type(of: value) is AnyClass else { return exactForm(value) }
            return uid(value).map { exactForm($0) } ?? exactForm(value)
        }
    }

    /// The value of a UID of Foundation, which our own reader reads from Foundation's bytes.
    private static func uid(_ value: Any) -> StoredValue? {
        guard let bytes = try? PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
        else { return nil }
        return try? PropertyListCoder.decode(bytes).value
    }
}
