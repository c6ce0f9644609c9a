package import Foundation
import PrefsPropertyLists

/// The members of the object that a JSON text holds.
package enum JSONMembers {
    /// The line in which a key of the object at the top stands, counted from 1; nil if there is no such key. Costs time
    /// linear in the text.
    ///
    /// - Parameter text: a text that was read before.
    package static func line(ofKey key: String, in text: Data) -> Int? {
        text.withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            if bytes.starts(with: JSONReader.byteOrderMark) { cursor.position = JSONReader.byteOrderMark.count }
            cursor.skipBlanks()
            guard cursor.current == UInt8(ascii: "{"), let object = try? JSONContainer(&cursor) else { return nil }
            let member = object.items.first { item in
                guard let end = item.keyEnd else { return false }
                let name = UnsafeRawBufferPointer(rebasing: bytes[item.lead.upperBound..<end])
                return (try? JSONReader.value(of: name, limits: .file)) == .string(key)
            }
            return member.map { 1 + bytes[..<$0.lead.upperBound].count { $0 == UInt8(ascii: "\n") } }
        }
    }
}
