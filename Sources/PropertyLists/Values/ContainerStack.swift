/// The containers around the position of a reader, from the outside in, with the parts that they have so far.
///
/// The parts of all containers are in one list, and a container is made in its size when it ends. One that grows takes
/// more time, and up to twice the memory.
package struct ContainerStack {
    private struct Container {
        let isDictionary: Bool
        /// The offset of its beginning.
        let start: Int
        /// The numbers of keys and values before its own.
        let keys: Int
        let values: Int
    }

    /// A key that a dictionary has twice, and the offsets of both.
    package struct RepeatedKey {
        package let key: String
        package let first: Int
        package let second: Int
        /// Whether the two have other bytes.
        package let isOtherSpelling: Bool
    }

    /// A step of the path to the next part.
    package enum Step {
        case key(String)
        case index(Int)
    }

    private var containers: [Container] = []
    private var keys: [(key: String, start: Int)] = []
    private var values: [StoredValue] = []

    package init() {}

    package var count: Int { containers.count }
    /// Whether the innermost container is a dictionary; false outside of all containers.
    package var isInDictionary: Bool { containers.last?.isDictionary == true }
    /// Whether the innermost container is a dictionary that has a key without its value.
    package var isBehindKey: Bool { containers.last.map { keys.count - $0.keys > values.count - $0.values } ?? false }
    /// The offset of the beginning of the innermost container.
    package var start: Int { containers.last?.start ?? 0 }

    /// The steps from the outermost container to the next part. There is no step into a dictionary before its next key.
    package var steps: [Step] {
        containers.indices.compactMap { index in
            let (container, isLast) = (containers[index], index == containers.count - 1)
            let count = (isLast ? values.count : containers[index + 1].values) - container.values
            guard container.isDictionary else { return .index(count) }
            let end = isLast ? keys.count : containers[index + 1].keys
            return end - container.keys > count ? .key(keys[end - 1].key) : nil
        }
    }

    package mutating func begin(isDictionary: Bool, at start: Int) {
        containers.append(
            Container(isDictionary: isDictionary, start: start, keys: keys.count, values: values.count))
    }

    package mutating func add(_ key: String, at start: Int) { keys.append((key, start)) }

    package mutating func add(_ value: StoredValue) { values.append(value) }

    /// Ends the innermost container.
    ///
    /// - Parameter allowsSpellings: whether the last of two keys counts that are spellings of one text.
    /// - Returns: the container, and why a write of it would lose an entry; nil if it has a repeated key.
    package mutating func end(allowsSpellings: Bool) -> (value: StoredValue, loss: String?)? {
        let container = containers[containers.count - 1]
        var (value, loss) = (StoredValue.null, String?.none)
        if container.isDictionary {
            var collector = DictionaryCollector()
            collector.reserveCapacity(keys.count - container.keys)
            for index in container.keys..<keys.count {
                let isAdded = collector.add(
                    keys[index].key, values[container.values + index - container.keys], .lastCounts)
                guard isAdded, allowsSpellings || collector.loss == nil else { return nil }
            }
            (value, loss) = (.dictionary(collector.members), collector.loss)
        } else {
            value = .array(Array(values[container.values...]))
        }
        containers.removeLast()
        keys.removeSubrange(container.keys...)
        values.removeSubrange(container.values...)
        return (value, loss)
    }

    /// Removes all but the last of equal keys of the innermost container.
    ///
    /// - Returns: the first key that it had twice; nil if there was none.
    package mutating func removeRepeatedKeys() -> RepeatedKey? {
        guard let container = containers.last, container.isDictionary else { return nil }
        var last: [String: Int] = [:]
        var repeated: RepeatedKey?
        for index in container.keys..<keys.count {
            let (key, second) = keys[index]
            guard let former = last.updateValue(index, forKey: key).map({ keys[$0] }), repeated == nil else { continue }
            repeated = RepeatedKey(
                key: key, first: former.start, second: second, isOtherSpelling: !former.key.hasSameBytes(as: key))
        }
        if repeated == nil { return nil }
        let kept = (container.keys..<keys.count).filter { last[keys[$0].key] == $0 }
        values.replaceSubrange(container.values..., with: kept.map { values[container.values + $0 - container.keys] })
        keys.replaceSubrange(container.keys..., with: kept.map { keys[$0] })
        return repeated
    }

    /// The first key that a container around the position has twice; nil if there is none. The path leads to its second
    /// place then. For the error of a text, whose first mistake is told.
    package mutating func repeatedKey(allowsSpellings: Bool) -> RepeatedKey? {
        // The keys of a container are before those of a container in it.
        for (depth, container) in containers.enumerated() {
            let end = depth + 1 < containers.count ? containers[depth + 1].keys : keys.count
            var known: [String: Int] = [:]
            for index in container.keys..<end {
                let (key, second) = keys[index]
                guard let former = known[key].map({ keys[$0] }) else {
                    known[key] = index
                    continue
                }
                let isOtherSpelling = !former.key.hasSameBytes(as: key)
                if allowsSpellings, isOtherSpelling { continue }
                values.removeSubrange((container.values + index - container.keys)...)
                keys.removeSubrange((index + 1)...)
                containers.removeSubrange((depth + 1)...)
                return RepeatedKey(key: key, first: former.start, second: second, isOtherSpelling: isOtherSpelling)
            }
        }
        return nil
    }
}

/// The texts that a reader has met last. Equal texts share their storage, because dictionaries of one kind have the
/// same keys, and often the same values.
package final class RecentTexts {
    private var texts: [String]

    /// nil for the bytes of a small text, in which the table would take more time than it saves.
    package init?(of bytes: UnsafeRawBufferPointer) {
        if bytes.count < 1 << 16 { return nil }
        texts = Array(repeating: "", count: 256)
    }

    /// The text of UTF-8 bytes; nil if they are not UTF-8.
    package func text(of bytes: UnsafeRawBufferPointer) -> String? {
        // A shorter text has no storage, and a longer one seldom comes again.
        guard (16...64).contains(bytes.count) else { return String(validUTF8: bytes) }
        let first = bytes.loadUnaligned(as: UInt64.self)
        let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        // The upper bits of a product depend on all bits of its factors.
        let mixed = first ^ (last &* 0x9E37_79B9_7F4A_7C15) &+ UInt64(bytes.count)
        let place = Int((mixed &* 0x9E37_79B9_7F4A_7C15) >> 56)
        if texts[place].hasBytes(bytes) { return texts[place] }
        guard let text = String(validUTF8: bytes) else { return nil }
        texts[place] = text
        return text
    }
}
