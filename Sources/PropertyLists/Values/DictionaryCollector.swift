/// Collects the entries of a dictionary while it is read, and notices keys that a Swift dictionary cannot hold side by side.
struct DictionaryCollector {
    private(set) var members: [String: Any] = [:]
    /// Why a write of the dictionary would lose an entry; nil if it would not.
    private(set) var loss: String?

    enum DuplicateRule {
        /// The first of several entries with the same key counts, as in Foundation's binary property lists. Other readers
        /// take the last one.
        case firstCounts
        /// The last one counts, as for every reader of XML.
        case lastCounts
    }

    mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    mutating func add(_ key: String, _ value: Any, _ rule: DuplicateRule) {
        let isASCII = key.utf8.allSatisfy { $0 < 0x80 }
        // Only keys with characters beyond ASCII have two spellings.
        if !isASCII, let index = members.index(forKey: key) {
            let former = members[index].key
            if !former.utf8.elementsEqual(key.utf8) {
                loss =
                    "the keys \(Self.quoted(former)) and \(Self.quoted(key)) differ only in Unicode normalization, "
                    + "and a write would lose one of them"
            }
        }
        guard let former = members.updateValue(value, forKey: key), rule == .firstCounts else { return }
        members[key] = former
        loss = loss ?? "the key \(Self.quoted(key)) occurs twice, and a write would lose one of its values"
    }

    /// The key with its spelling: `"é" (U+0065 U+0301)`.
    private static func quoted(_ key: String) -> String {
        let scalars = key.unicodeScalars.prefix(40)
        let text =
            ShownText.key(String(String.UnicodeScalarView(scalars))) + (scalars.endIndex < key.endIndex ? "…" : "")
        guard scalars.contains(where: { !$0.isASCII }) else { return "\"\(text)\"" }
        let codes = scalars.map { scalar in
            let hex = String(scalar.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
        }
        return "\"\(text)\" (\(codes.joined(separator: " ")))"
    }
}
