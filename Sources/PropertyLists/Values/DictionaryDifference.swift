/// The difference of two states of a dictionary: the keys that were added, changed or removed, with their values before
/// and after.
package struct DictionaryDifference: Sendable {
    package private(set) var keys: Set<String> = []
    package private(set) var old: [String: StoredValue] = [:]
    package private(set) var new: [String: StoredValue] = [:]

    package var isEmpty: Bool { keys.isEmpty }

    /// The size in memory, estimated from its values.
    package var estimatedBytes: Int { old.estimatedBytes + new.estimatedBytes }

    package init(from before: [String: StoredValue], to after: [String: StoredValue]) {
        after.forEachChange(since: before) { key, value, former in
            if former?.value == value { return }
            keys.insert(key)
            old[key] = former?.value
            new[key] = value
        } removed: { key, value in
            keys.insert(key)
            old[key] = value
        }
    }

    /// The part that concerns some of the keys.
    package func filtered(_ isIncluded: (String) -> Bool) -> DictionaryDifference {
        keys.allSatisfy(isIncluded) ? self : part(keys.filter(isIncluded))
    }

    package func part(_ some: Set<String>) -> DictionaryDifference {
        var part = DictionaryDifference(from: [:], to: [:])
        part.keys = some
        for key in some {
            part.old[key] = old[key]
            part.new[key] = new[key]
        }
        return part
    }

    /// Adds keys, which may be equal in both states.
    package mutating func include(
        _ more: Set<String>, from before: [String: StoredValue], to after: [String: StoredValue]
    ) {
        for key in more where keys.insert(key).inserted { (old[key], new[key]) = (before[key], after[key]) }
    }

    /// Merges a later difference into this one: all keys of both, with the values before the first and after the last.
    package mutating func append(_ next: DictionaryDifference) {
        for key in next.keys {
            if keys.insert(key).inserted { old[key] = next.old[key] }
            new[key] = next.new[key]
        }
    }

    /// The later state, computed from the former one.
    package func applied(to values: [String: StoredValue]) -> [String: StoredValue] {
        var values = values
        for key in keys { values[key] = new[key] }
        return values
    }
}

extension RandomAccessCollection where Index == Int, Element: Equatable {
    /// The numbers of elements that two collections have in common at their start and, behind it, at their end.
    @inlinable package func commonEnds(with other: Self) -> (start: Int, end: Int) {
        let least = Swift.min(count, other.count)
        let start = (0..<least).first { self[startIndex + $0] != other[other.startIndex + $0] } ?? least
        let end = (0..<(least - start)).first { self[endIndex - 1 - $0] != other[other.endIndex - 1 - $0] }
        return (start, end ?? least - start)
    }
}
