/// Collects the entries of a dictionary while it is read. Detects keys that a Swift dictionary cannot hold together:
/// two keys with equal bytes, which are malformed, and two spellings of one text.
struct DictionaryCollector {
    private(set) var members: [String: StoredValue] = [:]
    /// Why a write of the dictionary would lose an entry; nil if it would lose nothing.
    private(set) var loss: String?

    /// The entry that stays if two keys are spellings of one text.
    enum SpellingRule {
        /// The first, as in Foundation's binary property lists.
        case firstCounts
        /// The last, as for every reader of XML.
        case lastCounts
    }

    mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    /// - Returns: false if an entry has a key with the same bytes.
    mutating func add(_ key: String, _ value: StoredValue, _ rule: SpellingRule) -> Bool {
        // Searched once, because most keys are new. The former key stays in any case.
        guard let replaced = members.updateValue(value, forKey: key), let index = members.index(forKey: key) else {
            return true
        }
        let former = members[index].key
        if former.hasSameBytes(as: key) { return false }
        loss =
            "the keys \(Self.quoted(former)) and \(Self.quoted(key)) differ only in Unicode normalization, "
            + "and a write would lose one of them"
        if rule == .firstCounts { members[key] = replaced }
        return true
    }

    /// The key with its spelling: `"é" (U+0065 U+0301)`.
    static func quoted(_ key: String) -> String {
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
