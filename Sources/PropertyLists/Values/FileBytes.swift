package import Foundation

/// The bytes of a file, in parts that follow each other.
///
/// A changed text shares its long parts with the text that it replaces, because a second copy of a large text takes as
/// much memory again. Nearly all files have one part.
package struct FileBytes: Sendable {
    private var first: Data
    private var others: [Data] = []

    package init(_ bytes: Data) { first = bytes }

    package init(_ parts: [Data]) {
        let parts = parts.filter { !$0.isEmpty }
        (first, others) = (parts.first ?? Data(), Array(parts.dropFirst()))
    }

    private var parts: [Data] { [first] + others }

    package var count: Int { others.reduce(first.count) { $0 + $1.count } }

    /// The bytes as one part. Copies them if there are several.
    package var joined: Data {
        if others.isEmpty { return first }
        var joined = Data(capacity: count)
        for part in parts { joined += part }
        return joined
    }

    package func forEachPart<E: Error>(_ body: (Data) throws(E) -> Void) throws(E) {
        try body(first)
        for part in others { try body(part) }
    }

    package static func == (left: FileBytes, right: Data) -> Bool {
        left.count == right.count && left.commonStart(with: right) == right.count
    }

    /// The number of bytes that are the same at the start.
    package func commonStart(with other: Data) -> Int {
        var count = 0
        for part in parts {
            let rest = other.dropFirst(count).prefix(part.count)
            if rest != part { return count + part.commonEnds(with: rest).start }
            count += part.count
        }
        return count
    }

    /// The number of bytes that are the same at the end.
    package func commonEnd(with other: Data) -> Int {
        var count = 0
        for part in parts.reversed() {
            let rest = other.dropLast(count).suffix(part.count)
            if rest != part { return count + part.reversed().commonEnds(with: rest.reversed()).start }
            count += part.count
        }
        return count
    }
}
