package import Foundation

/// The bytes of a file, in parts that follow each other.
///
/// A changed text shares its long parts with the text that it replaces, because a second copy of a large text takes as
/// much memory again. Nearly all files have one part. All parts but the last have a multiple of eight bytes, so that a
/// checksum takes whole words.
///
/// A class, because the states of a file share it.
package final class FileBytes: Sendable {
    private let first: Data
    private let others: [Data]

    package init(_ bytes: Data) { (first, others) = (bytes, []) }

    package init(_ parts: [Data]) {
        let parts = parts.filter { !$0.isEmpty }
        assert(parts.dropLast().allSatisfy { $0.count.isMultiple(of: 8) })
        (first, others) = (parts.first ?? Data(), Array(parts.dropFirst()))
    }

    package var parts: [Data] { [first] + others }

    package var count: Int { others.reduce(first.count) { $0 + $1.count } }

    /// The bytes as one part. Copies them if there are several.
    package var joined: Data {
        if others.isEmpty { return first }
        return parts.reduce(into: Data(capacity: count)) { $0 += $1 }
    }

    package func hasSameBytes(as other: Data) -> Bool {
        if others.isEmpty { return first.hasSameBytes(as: other) }
        var (position, isSame) = (0, count == other.count)
        forEachPart { part in
            isSame = isSame && part.hasSameBytes(as: other.dropFirst(position).prefix(part.count))
            position += part.count
        }
        return isSame
    }

    package func forEachPart<E: Error>(_ body: (Data) throws(E) -> Void) throws(E) {
        try body(first)
        for part in others { try body(part) }
    }
}
