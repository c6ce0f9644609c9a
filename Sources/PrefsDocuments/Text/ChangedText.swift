package import Foundation
package import PrefsPropertyLists

/// Writes the text of a document anew, and changes only the text of the values that change. Order, indentation, line
/// ends, comments, and the texts of values that do not change stay as they are.
///
/// Text that stays is copied, or shared if it is long. A new item gets the blanks of its neighbors. Costs time linear in
/// the text: one pass finds the places of what changes (`TextPlaces`), and one pass copies.
package struct ChangedText {
    /// A part of at least this size is shared with the former text. Smaller ones are copied, because each part takes a write.
    private static let leastShared = 1 << 20

    private let text: Data
    private let syntax: any TextSyntax
    private let form: TextForm
    private let containers: [TextContainer]
    /// The complete parts; `output` is the one that is being written.
    private var parts: [Data] = []
    private var output: [UInt8] = []
    /// The blanks of a value at the top.
    private var style: TextStyle

    private var bytes: UnsafeRawBufferPointer { syntax.bytes }

    /// Returns the bytes of a text after a change of its value.
    ///
    /// - Parameters:
    ///   - syntax: makes a cursor at the beginning of the bytes of the text.
    ///   - former: the value of the text.
    /// - Throws: `TextMismatch` if the text has another value; `PropertyListFailure` if the syntax cannot hold the value.
    package static func bytes(
        of text: Data, in syntax: (UnsafeRawBufferPointer) -> any TextSyntax, from former: StoredValue,
        to new: StoredValue
    ) throws -> FileBytes {
        if former == new { return FileBytes(text) }
        return try text.withUnsafeBytes { bytes in
            var places = try TextPlaces(syntax(bytes))
            let start = places.syntax.position
            let isInParts = try places.read(from: former, to: new)
            var changed = ChangedText(text, places, start)
            changed.append(0..<start)
            let change = TextDifference.Change(
                step: nil, former: former, new: new, content: isInParts ? places.containers.count - 1 : nil)
            try changed.write(change, inPlaceOf: start..<places.syntax.position)
            changed.append(places.syntax.position..<bytes.count)
            return FileBytes(changed.parts + [Data(changed.output)])
        }
    }

    private init(_ text: Data, _ places: TextPlaces, _ start: Int) {
        (self.text, syntax, containers) = (text, places.syntax, places.containers)
        form = type(of: syntax).form
        let bytes = syntax.bytes
        let first = bytes.firstIndex(of: UInt8(ascii: "\n"))
        let isOfWindows = first.map { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\r") } ?? false
        style = TextStyle(
            lineEnd: Array((isOfWindows ? "\r\n" : "\n").utf8), step: form.step,
            between: Array(repeating: form.between, count: TextForm.Kind.allCases.count))
        if let root = containers.last {
            let line = bytes[..<start].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            if bytes[line..<start].allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                style.margin = Array(bytes[line..<start])
            }
            style.step = Self.step(of: root, margin: style.margin) ?? form.step
            style.between = between(in: root, style)
        }
        output.reserveCapacity(min(bytes.count + bytes.count / 64 + 4_096, Self.leastShared))
    }

    /// One step of indentation; nil if no item shows it.
    private static func step(of root: TextContainer, margin: [UInt8]) -> [UInt8]? {
        guard let indentation = root.indentation, indentation.count > margin.count, indentation.starts(with: margin)
        else { return nil }
        return Array(indentation[margin.count...])
    }

    /// What is between a key and its value: as in the items of the container, or else as around it.
    private func between(in container: TextContainer, _ style: TextStyle) -> [TextForm.Between] {
        TextForm.Kind.allCases.map { kind in
            container.between[kind.rawValue] ?? container.firstBetween ?? style.between(kind)
        }
    }

    private mutating func append(_ range: Range<Int>) {
        guard range.count >= Self.leastShared else { return copy(range) }
        // The parts have whole words.
        let start = range.lowerBound + (8 - output.count % 8) % 8
        let end = range.upperBound - (range.upperBound - start) % 8
        copy(range.lowerBound..<start)
        parts += [Data(output), text.dropFirst(start).prefix(end - start)]
        output = []
        copy(end..<range.upperBound)
    }

    private mutating func copy(_ range: Range<Int>) {
        if !range.isEmpty { output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range])) }
    }

    // MARK: - Values

    /// A container that is being written.
    private struct Level {
        let container: TextContainer
        let style: TextStyle
        let isOneLine: Bool
        /// The indentation of its items.
        let margin: [UInt8]
        let closing: [UInt8]
        /// The index of the part that comes next.
        var next = 0
        /// Whether the output may end in a comment that ends with the line, so that whatever follows needs a new line.
        var isInComment: Bool
    }

    /// Keeps the open containers in a list, and not on the stack, because a thread may have a small one.
    private mutating func write(_ root: TextDifference.Change, inPlaceOf range: Range<Int>) throws {
        guard let level = try begin(root, inPlaceOf: range, style, depth: 0) else { return }
        var levels = [level]
        do {
            while let top = levels.indices.last {
                guard levels[top].next < levels[top].container.parts.count else {
                    end(levels.removeLast())
                    if top > 0 { endPart(of: &levels[top - 1]) }
                    continue
                }
                if let inner = try beginPart(of: levels[top], depth: levels.count) {
                    levels.append(inner)
                } else {
                    endPart(of: &levels[top])
                }
            }
        } catch let failure as PropertyListFailure {
            throw Self.failure(failure, in: levels)
        }
    }

    /// The failure of a value, with its place in the whole.
    private static func failure(_ failure: PropertyListFailure, in levels: [Level]) -> PropertyListFailure {
        let steps = levels.compactMap { $0.container.parts[$0.next].change?.step?.text }
        let first = steps.first?.utf8.first == UInt8(ascii: ".") ? steps.first.map { $0.utf8.dropFirst() } : nil
        let joint = failure.path.isEmpty || failure.path.utf8.first == UInt8(ascii: "[") ? "" : "."
        let path = steps.joined() + joint + failure.path
        return PropertyListFailure(
            path: first == nil ? path : String(decoding: path.utf8.dropFirst(), as: UTF8.self),
            topLevelKey: first.map { String(decoding: $0, as: UTF8.self) } ?? "", reason: failure.reason)
    }

    /// Writes a value as a whole; or, if it is a container that is changed in parts, writes its beginning and returns
    /// it.
    private mutating func begin(
        _ change: TextDifference.Change, inPlaceOf range: Range<Int>, _ style: TextStyle, depth: Int
    ) throws -> Level? {
        guard let former = change.former, former != change.new else {
            append(range)
            return nil
        }
        guard let content = change.content, !(form.joinsEmptied && isEmptied(containers[content])) else {
            output += try syntax.bytes(of: change.new, inPlaceOf: (range, former), style: style, depth: depth)
            return nil
        }
        let container = containers[content]
        let isOneLine = container.count == 0 ? style.isOneLine : container.isOneLine
        var closing = Array(bytes[container.closing])
        if container.closing.isEmpty {
            let expanded = syntax.expanded(container.opening)
            output += expanded.opening
            closing = expanded.closing
        } else {
            append(container.opening)
        }
        append(container.head)
        return Level(
            container: container, style: style, isOneLine: isOneLine,
            margin: container.indentation ?? (isOneLine ? style.margin : style.margin + style.step),
            closing: closing, isInComment: !container.head.isEmpty)
    }

    /// Whether nothing is left of a container, not even a comment.
    private func isEmptied(_ container: TextContainer) -> Bool {
        container.parts.isEmpty && container.orphans.isEmpty && container.head.isEmpty
            && !syntax.hasComment(container.end)
    }

    // MARK: - Containers

    /// Writes comment lines that stay.
    ///
    /// - Returns: whether the output may now end in a comment that ends with the line.
    private mutating func write(_ orphans: [Range<Int>], in level: Level) -> Bool {
        var isInComment = level.isInComment
        for lines in orphans {
            write(bytes[lines], isInComment, level.margin)
            isInComment = true
        }
        return isInComment
    }

    /// Writes blanks and comments. Begins a new line first if the output may end in a comment that ends with the line.
    private mutating func write(_ blanks: some Collection<UInt8>, _ isInComment: Bool, _ margin: [UInt8]) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let first = blanks.first { !isBlank($0) && $0 != UInt8(ascii: "\r") }
        guard isInComment, first != UInt8(ascii: "\n") else {
            output += blanks
            return
        }
        output += style.lineEnd + margin
        output += blanks.drop(while: isBlank)
    }

    /// Writes the next part, up to the end of its last value. Of a container that is changed in parts, writes the
    /// beginning and returns it.
    private mutating func beginPart(of level: Level, depth: Int) throws -> Level? {
        let part = level.container.parts[level.next]
        if let own = ownLead(of: part, in: level), part.orphans.isEmpty, !level.isInComment {
            // The part stays where it was: its blanks are copied with it.
            append(own)
        } else {
            write(lead(of: part, in: level), write(part.orphans, in: level), level.margin)
        }
        guard let change = part.change else {
            if let (first, last) = part.items { append(first.start..<last.value.upperBound) }
            return nil
        }
        guard let item = part.items?.first else {
            var style = style(in: level, of: change)
            style.isOneLine = level.isOneLine || level.container.hasContainersOnOneLine
            try write(new: change, style, in: level, depth: depth)
            return nil
        }
        if change.key == nil, let former = change.former, former != change.new, !change.new.mayHaveLines {
            // A scalar on one line needs no margin, and what is around it stays.
            append(item.start..<item.value.lowerBound)
            output += try syntax.bytes(
                of: change.new, inPlaceOf: (item.value, former), style: level.style, depth: depth)
            return nil
        }
        var style = style(in: level, of: change)
        style.isOneLine = level.isOneLine
        if let indentation = syntax.indentation(of: item.lead) { style.margin = indentation }
        if let key = change.key {
            output += try syntax.bytes(ofKey: key)
            append(item.keyEnd..<item.value.lowerBound)
        } else {
            append(item.start..<item.value.lowerBound)
        }
        if case .newLine = form.between, let indentation = syntax.indentation(of: item.keyEnd..<item.value.lowerBound) {
            style.margin = indentation
        }
        return try begin(change, inPlaceOf: item.value, style, depth: depth)
    }

    /// The style of an item of a container.
    private func style(in level: Level, of change: TextDifference.Change) -> TextStyle {
        var style = level.style
        style.margin = level.margin
        if change.former == nil || change.content == nil && change.new.isContainer {
            style.between = between(in: level.container, self.style)
        }
        return style
    }

    private mutating func write(
        new change: TextDifference.Change, _ style: TextStyle, in level: Level, depth: Int
    ) throws {
        var style = style
        if let key = change.key {
            output += try syntax.bytes(ofKey: key)
            switch style.between(TextForm.Kind(change.new)) {
            case .sameLine(let blanks): output += blanks
            case .newLine where level.isOneLine: break
            case .newLine(let indentation):
                style.margin += indentation
                output += style.lineEnd + style.margin
            }
        }
        output += try syntax.bytes(of: change.new, inPlaceOf: nil, style: style, depth: depth)
    }

    private mutating func endPart(of level: inout Level) {
        let item = level.container.parts[level.next].items?.last
        level.next += 1
        if let item { append(item.gap) }
        if let separator = form.separator,
            level.next < level.container.parts.count || level.container.lastHasSeparator
        {
            output.append(separator)
        }
        if let item { append(item.tail) }
        if output.count >= Self.leastShared {
            // A long output is handed on in parts, so that it is not copied as a whole when it grows or is joined.
            // Whole words, so that a copy of the rest begins at a word.
            let whole = output.count - output.count % 8
            parts.append(Data(output[..<whole]))
            output.removeSubrange(..<whole)
        }
        level.isInComment = item?.tail.isEmpty == false
    }

    private mutating func end(_ level: Level) {
        let container = level.container
        let isInComment = write(container.orphans, in: level)
        let hasItems = container.count > 0 && !(form.joinsEmptied && container.parts.isEmpty)
        if isInComment || syntax.hasComment(container.end) || hasItems {
            write(bytes[container.end], isInComment, level.style.margin)
        } else if !level.isOneLine, !container.parts.isEmpty {
            output += style.lineEnd + level.style.margin
        }
        output += level.closing
    }

    /// The blanks and comments that an item keeps before it: if they contain a line end or a comment, or if it stays the first
    /// item, or stays behind others.
    private func ownLead(of part: TextContainer.Part, in level: Level) -> Range<Int>? {
        guard let own = part.items?.first.lead else { return nil }
        let staysThere = part.isFirst == (level.next == 0)
        return staysThere || syntax.hasLineEnd(own) || syntax.hasComment(own) ? own : nil
    }

    /// The blanks and comments before a part: its own, or else those that its neighbors have.
    private func lead(of part: TextContainer.Part, in level: Level) -> [UInt8] {
        if let own = ownLead(of: part, in: level) { return Array(bytes[own]) }
        let (leads, isFirst) = (level.container.leads, level.next == 0)
        if !level.isOneLine { return style.lineEnd + level.margin }
        guard let sample = isFirst ? leads.first : leads.second, !syntax.hasComment(sample) else {
            return isFirst ? [] : form.space
        }
        return Array(bytes[sample])
    }
}

extension StoredValue {
    /// Whether a syntax may write the value on several lines.
    fileprivate var mayHaveLines: Bool {
        switch self {
        case .array, .dictionary, .data, .uid, .foreign: true
        default: false
        }
    }
}
