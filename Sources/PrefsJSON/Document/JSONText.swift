import Foundation
import PrefsPropertyLists

/// Writes the text of a JSON file anew, and changes only the text of the values that change. Order, indentation, line
/// ends, escapes, the texts of numbers, and nulls stay as they are.
///
/// A container whose parts change is read as a list of items, each with the blanks and comments around it. Items that
/// stay are copied. A new item gets the blanks of its neighbors.
///
/// Costs time linear in the text for each level of containers that change.
struct JSONText {
    private let bytes: UnsafeRawBufferPointer
    private var output: [UInt8] = []
    private let lineEnd: [UInt8]
    /// One step of indentation.
    private var step = Array("  ".utf8)
    /// The colon and the blanks between a key and its value, if the text has no member to copy them from.
    private var colon = Array(": ".utf8)

    /// Returns the bytes of a text after a change of its value.
    ///
    /// - Parameters:
    ///   - former: the value of the text.
    ///   - limits: the limits of the reader, which would reject more values.
    /// - Throws: `JSONCursor.Mismatch` if the text has another value; `EncodingFailure` if JSON cannot hold the value.
    static func data(
        changing bytes: UnsafeRawBufferPointer, from former: StoredValue, to new: StoredValue,
        limits: JSONReader.Limits = .file
    ) throws -> Data {
        var text = JSONText(bytes)
        try text.change(from: former, to: new)
        let data = Data(text.output)
        // A value and its comma take two bytes, so that most texts need not be read.
        if data.count / 2 > limits.nodes, (try? JSONReader.value(of: data, limits: limits)) == nil {
            throw EncodingFailure(path: "", reason: "more than \(limits.nodes) values")
        }
        return data
    }

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        let first = bytes.firstIndex(of: UInt8(ascii: "\n"))
        let isOfWindows = first.map { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\r") } ?? false
        lineEnd = Array((isOfWindows ? "\r\n" : "\n").utf8)
        output.reserveCapacity(bytes.count + bytes.count / 8)
    }

    private mutating func change(from former: StoredValue, to new: StoredValue) throws {
        var cursor = JSONCursor(bytes)
        if bytes.starts(with: JSONReader.byteOrderMark) { cursor.position = 3 }
        cursor.skipBlanks()
        let start = cursor.position
        if let byte = cursor.current, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            let root = try JSONContainer(&cursor)
            if let first = root.items.first {
                step = indentation(of: first.lead).map { $0.isEmpty ? step : $0 } ?? step
                colon = colon(of: root) ?? colon
            }
        } else {
            try cursor.skipValue()
        }
        let end = cursor.position
        output += bytes[..<start]
        try write(new, inPlaceOf: start..<end, former, Place(margin: [], isOneLine: false, colon: colon))
        output += bytes[end...]
    }

    /// The indentation of the line in which a value begins, and whether the values around it are on one line.
    private struct Place {
        var margin: [UInt8]
        var isOneLine: Bool
        /// The colon and the blanks between a key and its value.
        var colon: [UInt8]
    }

    // MARK: - Values

    /// A container that is being written.
    private struct Level {
        let container: JSONContainer
        let entries: [Entry]
        let place: Place
        let isOneLine: Bool
        /// Whether a new container in this one is written on one line, like its neighbors.
        let hasContainersOnOneLine: Bool
        /// The indentation of its items.
        let margin: [UInt8]
        let colon: [UInt8]
        /// The index of the entry that comes next.
        var next = 0
        /// Whether the output may end in a `//` comment, so that whatever follows needs a new line.
        var isInComment: Bool
        /// The comment lines above removed items, which stay, by the index of the next item that stays.
        let orphans: [Int: [Range<Int>]]
    }

    /// Keeps the open containers in a list, and not on the stack, because a thread may have a small one.
    private mutating func write(
        _ new: StoredValue, inPlaceOf range: Range<Int>, _ former: StoredValue, _ place: Place
    ) throws {
        guard let root = try begin(new, inPlaceOf: range, former, place) else { return }
        var levels = [root]
        while var level = levels.popLast() {
            guard level.next < level.entries.count else {
                end(level)
                if !levels.isEmpty { endEntry(of: &levels[levels.count - 1]) }
                continue
            }
            if let inner = try beginEntry(of: level) {
                levels += [level, inner]
            } else {
                endEntry(of: &level)
                levels.append(level)
            }
        }
    }

    /// Writes a value as a whole; or, if it is a container that is changed in parts, writes its beginning and returns
    /// it.
    private mutating func begin(
        _ new: StoredValue, inPlaceOf range: Range<Int>, _ former: StoredValue, _ place: Place
    ) throws -> Level? {
        if new == former {
            output += bytes[range]
            return nil
        }
        let (container, entries): (JSONContainer, [Entry]?)
        var cursor = JSONCursor(bytes, at: range.lowerBound)
        switch (former, new, bytes[range.lowerBound]) {
        case (.dictionary(let former), .dictionary(let new), UInt8(ascii: "{"))
        where !JSONForm.isMistakable(former) && !JSONForm.isMistakable(new):
            container = try JSONContainer(&cursor)
            entries = try self.entries(of: container, former, new)
        case (.array(let former), .array(let new), UInt8(ascii: "[")):
            container = try JSONContainer(&cursor)
            guard container.items.count == former.count else { throw JSONCursor.Mismatch() }
            entries = Self.entries(of: container, former, new)
        default:
            try write(new, place)
            return nil
        }
        guard let entries else {
            try write(new, place)
            return nil
        }
        let items = container.items
        let isOneLine = items.isEmpty ? place.isOneLine : items.allSatisfy { !hasLineEnd($0.lead) }
        var margin = isOneLine ? place.margin : place.margin + step
        if let line = items.first(where: { hasLineEnd($0.lead) }) { margin = indentation(of: line.lead) ?? margin }
        output.append(container.open)
        output += bytes[container.head]
        return Level(
            container: container, entries: entries, place: place, isOneLine: isOneLine,
            hasContainersOnOneLine: isOneLine
                || entries.contains { $0.former == nil && $0.new.isContainer } && areOnOneLine(items),
            margin: margin, colon: colon(of: container) ?? colon, isInComment: !container.head.isEmpty,
            orphans: orphans(of: container, entries))
    }

    /// Whether there are containers among the values, and each is on one line.
    private func areOnOneLine(_ items: [JSONContainer.Item]) -> Bool {
        let containers = items.map(\.value).filter {
            let first = bytes[$0.lowerBound]
            return $0.count > 2 && (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
        }
        return !containers.isEmpty && containers.allSatisfy { !hasLineEnd($0) }
    }

    private mutating func write(_ new: StoredValue, _ place: Place) throws {
        output += try JSONWriter.bytes(
            of: new,
            layout: JSONWriter.Layout(
                lineEnd: place.isOneLine ? nil : lineEnd + place.margin, step: step, colon: place.colon))
    }

    // MARK: - Containers

    /// An item of the new container.
    private struct Entry {
        /// The index of the item that it replaces; nil for a new one.
        let index: Int?
        var key: String?
        /// nil for a new item.
        let former: StoredValue?
        let new: StoredValue
    }

    /// - Returns: nil if the text has other keys than the value.
    private func entries(
        of object: JSONContainer, _ former: [String: StoredValue], _ new: [String: StoredValue]
    ) throws -> [Entry]? {
        var entries: [(key: String, entry: Entry)] = []
        entries.reserveCapacity(max(object.items.count, new.count))
        var removed: [(index: Int, key: String)] = []
        var last: String?
        var isSorted = true
        for (index, item) in object.items.enumerated() {
            let key = try key(of: item)
            isSorted = isSorted && last.map { Self.precedes($0, key) } ?? true
            last = key
            // In the text, the key has one more $ than in the value.
            guard let value = former[key] else { return nil }
            guard let member = new.index(forKey: key).map({ new[$0] }) else {
                removed.append((index, key))
                continue
            }
            let isRenamed = !member.key.hasSameBytes(as: key)
            entries.append(
                (key, Entry(index: index, key: isRenamed ? member.key : nil, former: value, new: member.value)))
        }
        // The usual case: nothing was added.
        if entries.count == new.count { return entries.map(\.entry) }
        var added = new.filter { former.index(forKey: $0.key) == nil }
        let renamed = Self.renamed(former.filter { new.index(forKey: $0.key) == nil }, added)
        for (index, old) in removed {
            guard let key = renamed[old], let value = added.removeValue(forKey: key) else { continue }
            entries.append((old, Entry(index: index, key: key, former: value, new: value)))
        }
        if !renamed.isEmpty { entries.sort { $0.entry.index ?? 0 < $1.entry.index ?? 0 } }
        let sorted = added.sorted { Self.precedes($0.key, $1.key) }
        entries += sorted.map { ($0.key, Entry(index: nil, key: $0.key, former: nil, new: $0.value)) }
        if isSorted { entries.sort { Self.precedes($0.key, $1.key) } }
        return entries.map(\.entry)
    }

    /// Finds members that a migration has renamed: exactly one removed member and exactly one added member have one
    /// value.
    ///
    /// - Returns: the new key for each old one.
    private static func renamed(
        _ removed: [String: StoredValue], _ added: [String: StoredValue]
    ) -> [String: String] {
        if removed.isEmpty || added.isEmpty { return [:] }
        let olds = Dictionary(grouping: removed.keys) { removed[$0] }
        let news = Dictionary(grouping: added.keys) { added[$0] }
        var renamed: [String: String] = [:]
        for (value, keys) in olds where keys.count == 1 {
            if let others = news[value], others.count == 1 { renamed[keys[0]] = others[0] }
        }
        return renamed
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private func key(of item: JSONContainer.Item) throws -> String {
        let start = item.lead.upperBound
        guard let end = item.keyEnd, start < end else { throw JSONCursor.Mismatch() }
        let text = bytes[start..<end]
        if !text.contains(UInt8(ascii: "\\")) { return String(decoding: text.dropFirst().dropLast(), as: UTF8.self) }
        guard let key = try JSONReader.value(of: UnsafeRawBufferPointer(rebasing: text), limits: .file).string else {
            throw JSONCursor.Mismatch()
        }
        return key
    }

    /// The largest number of elements, between the common start and the common end, whose difference is computed.
    private static let mostCompared = 2_000

    /// The entries of a list. Equal elements stay. An element that is removed and one that is added in its place count
    /// as one element that changes.
    private static func entries(of list: JSONContainer, _ former: [StoredValue], _ new: [StoredValue]) -> [Entry] {
        let least = min(former.count, new.count)
        let start = (0..<least).first { former[$0] != new[$0] } ?? least
        let end =
            (0..<(least - start)).first { former[former.count - 1 - $0] != new[new.count - 1 - $0] } ?? least - start
        let (olds, news) = (start..<(former.count - end), start..<(new.count - end))
        var entries = (0..<start).map { Entry(index: $0, former: former[$0], new: new[$0]) }
        var (removed, inserted) = (Set(olds), Set(news))
        if !olds.isEmpty, !news.isEmpty, olds.count + news.count <= mostCompared {
            let difference = new[news].difference(from: former[olds])
            (removed, inserted) = ([], [])
            for change in difference {
                switch change {
                case .remove(let offset, _, _): removed.insert(start + offset)
                case .insert(let offset, _, _): inserted.insert(start + offset)
                }
            }
        }
        var (old, next) = (olds.lowerBound, news.lowerBound)
        while old < olds.upperBound || next < news.upperBound {
            switch (removed.contains(old), inserted.contains(next)) {
            case (true, false): old += 1
            case (false, true):
                entries.append(Entry(index: nil, former: nil, new: new[next]))
                next += 1
            default:
                entries.append(Entry(index: old, former: former[old], new: new[next]))
                (old, next) = (old + 1, next + 1)
            }
        }
        entries += (0..<end).reversed().map {
            let index = former.count - 1 - $0
            return Entry(index: index, former: former[index], new: former[index])
        }
        return entries
    }

    private func orphans(of container: JSONContainer, _ entries: [Entry]) -> [Int: [Range<Int>]] {
        // The usual case: nothing was removed.
        if entries.lazy.filter({ $0.index != nil }).count == container.items.count { return [:] }
        let kept = Set(entries.compactMap(\.index))
        var orphans: [Int: [Range<Int>]] = [:]
        var waiting: [Range<Int>] = []
        for (index, item) in container.items.enumerated() {
            if kept.contains(index) {
                if !waiting.isEmpty { (orphans[index], waiting) = (waiting, []) }
            } else if let lines = linesAbove(item), hasComment(lines) {
                waiting.append(lines)
            }
        }
        if !waiting.isEmpty { orphans[container.items.count] = waiting }
        return orphans
    }

    /// The lines above an item: its blanks and comments up to the last line end outside of a comment. nil if the item
    /// has no line of its own.
    private func linesAbove(_ item: JSONContainer.Item) -> Range<Int>? {
        var end: Int?
        var position = item.lead.lowerBound
        while position < item.lead.upperBound {
            if bytes[position] == UInt8(ascii: "/"), JSONBlanks.skipsComment(&position, in: bytes) { continue }
            if bytes[position] == UInt8(ascii: "\n") { end = position }
            position += 1
        }
        guard let end else { return nil }
        let isOfWindows = end > item.lead.lowerBound && bytes[end - 1] == UInt8(ascii: "\r")
        return item.lead.lowerBound..<(isOfWindows ? end - 1 : end)
    }

    /// Writes the comments above removed items.
    ///
    /// - Returns: whether the output may now end in a `//` comment.
    private mutating func writeOrphans(before index: Int, in level: Level) -> Bool {
        guard !level.orphans.isEmpty, let orphans = level.orphans[index] else { return level.isInComment }
        var isInComment = level.isInComment
        for lines in orphans {
            write(Array(bytes[lines]), isInComment, level.margin)
            isInComment = true
        }
        return true
    }

    /// Writes blanks and comments. Begins a new line first if the output may end in a `//` comment.
    private mutating func write(_ blanks: [UInt8], _ isInComment: Bool, _ margin: [UInt8]) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let first = blanks.first { !isBlank($0) && $0 != UInt8(ascii: "\r") }
        guard isInComment, first != UInt8(ascii: "\n") else {
            output += blanks
            return
        }
        output += lineEnd + margin
        output += blanks.drop(while: isBlank)
    }

    /// Writes the next entry: its blanks, its key and its value. Of a container that is changed in parts, writes the
    /// beginning and returns it.
    private mutating func beginEntry(of level: Level) throws -> Level? {
        let (entry, margin) = (level.entries[level.next], level.margin)
        let isInComment = entry.index.map { writeOrphans(before: $0, in: level) } ?? level.isInComment
        write(lead(of: entry, in: level), isInComment, margin)
        var place = Place(margin: margin, isOneLine: level.isOneLine, colon: level.colon)
        if entry.former == nil { place.isOneLine = level.hasContainersOnOneLine }
        guard let index = entry.index else {
            if let key = entry.key {
                JSONEscape.append(key, to: &output)
                output += place.colon
            }
            try write(entry.new, place)
            return nil
        }
        let item = level.container.items[index]
        if let indentation = indentation(of: item.lead) { place.margin = indentation }
        if let key = entry.key, let end = item.keyEnd {
            JSONEscape.append(key, to: &output)
            output += bytes[end..<item.value.lowerBound]
        } else {
            output += bytes[item.lead.upperBound..<item.value.lowerBound]
        }
        guard let former = entry.former else { throw JSONCursor.Mismatch() }
        return try begin(entry.new, inPlaceOf: item.value, former, place)
    }

    private mutating func endEntry(of level: inout Level) {
        let items = level.container.items
        let item = level.entries[level.next].index.map { items[$0] }
        level.next += 1
        if let item { output += bytes[item.gap] }
        if level.next < level.entries.count || items.last?.hasComma == true { output.append(UInt8(ascii: ",")) }
        if let item { output += bytes[item.tail] }
        level.isInComment = item?.tail.isEmpty == false
    }

    private mutating func end(_ level: Level) {
        let container = level.container
        let isInComment = writeOrphans(before: container.items.count, in: level)
        if isInComment || hasComment(container.end) || !container.items.isEmpty && !level.entries.isEmpty {
            write(Array(bytes[container.end]), isInComment, level.place.margin)
        } else if !level.isOneLine, !level.entries.isEmpty {
            output += lineEnd + level.place.margin
        }
        output.append(container.open + 2)
    }

    /// The blanks and comments before an entry. An item keeps its own if they contain a line end or a comment, or if it
    /// stays the first item, or stays behind others. Otherwise it takes those that its neighbors have.
    private func lead(of entry: Entry, in level: Level) -> [UInt8] {
        let (items, isFirst) = (level.container.items, level.next == 0)
        if let index = entry.index {
            let own = items[index].lead
            if (index == 0) == isFirst || hasLineEnd(own) || hasComment(own) { return Array(bytes[own]) }
        }
        if !level.isOneLine { return lineEnd + level.margin }
        let sample = isFirst ? items.first : items.dropFirst().first
        guard let sample, !hasComment(sample.lead) else { return isFirst ? [] : [UInt8(ascii: " ")] }
        return Array(bytes[sample.lead])
    }

    // MARK: - Blanks

    /// The colon and the blanks between the first key and its value. nil if they contain a comment or a line end.
    private func colon(of container: JSONContainer) -> [UInt8]? {
        guard let item = container.items.first, let end = item.keyEnd else { return nil }
        let colon = end..<item.value.lowerBound
        return hasComment(colon) || hasLineEnd(colon) ? nil : Array(bytes[colon])
    }

    private func hasLineEnd(_ range: Range<Int>) -> Bool { bytes[range].contains(UInt8(ascii: "\n")) }

    private func hasComment(_ blanks: Range<Int>) -> Bool { bytes[blanks].contains(UInt8(ascii: "/")) }

    /// The blanks after the last line end. nil if there is no line end, because the item follows on the line of
    /// another.
    private func indentation(of lead: Range<Int>) -> [UInt8]? {
        guard let end = bytes[lead].lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        return Array(bytes[(end + 1)..<lead.upperBound].prefix { $0 == 0x20 || $0 == 0x09 })
    }
}
