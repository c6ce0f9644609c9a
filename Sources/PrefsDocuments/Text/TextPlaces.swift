import PrefsPropertyLists

/// A container of a text whose parts change.
struct TextContainer {
    /// A member or an element, as places in the text.
    struct Item {
        /// The blanks and comments before it, from the end of what is before it.
        let lead: Range<Int>
        /// The end of the key; the beginning of the value for an element.
        let keyEnd: Int
        let value: Range<Int>
        /// Between the value and its separator.
        let gap: Range<Int>
        let hasSeparator: Bool
        /// A comment on the rest of the line.
        let tail: Range<Int>

        var start: Int { lead.upperBound }
    }

    /// A part of the container after the change.
    struct Part {
        /// Items that stay, from the first to the last.
        var items: (first: Item, last: Item)?
        /// Whether the first of them is the first of the container.
        var isFirst = false
        /// nil for items that stay.
        var change: TextDifference.Change?
        /// The comment lines above removed items. They stay, above this part.
        var orphans: [Range<Int>] = []
    }

    let isDictionary: Bool
    let opening: Range<Int>
    /// A comment on the line of the opening.
    let head: Range<Int>
    var parts: [Part] = []
    /// The blanks and comments before the closing.
    var end: Range<Int>
    /// Empty if the opening is the whole container.
    var closing: Range<Int>
    /// The comment lines above removed items, after all parts.
    var orphans: [Range<Int>] = []

    // MARK: Samples

    var count = 0
    /// Whether no item begins a line.
    var isOneLine = true
    /// The indentation of the first item that begins a line.
    var indentation: [UInt8]?
    /// The blanks before the first item and before the second one.
    var leads: (first: Range<Int>?, second: Range<Int>?)
    var lastHasSeparator = false
    /// What is between the key and the value: of the first item, and of the first item of each kind.
    var firstBetween: TextForm.Between?
    var between: [TextForm.Between?] = TextForm.Kind.allCases.map { _ in nil }
    /// Whether there are containers among the values, and each is on one line.
    var hasContainersOnOneLine = false
}

/// Finds the places of all that changes in a text, in one pass over its bytes.
struct TextPlaces {
    private(set) var syntax: any TextSyntax
    private let form: TextForm
    /// The containers that are changed in parts. The last one is the outermost.
    private(set) var containers: [TextContainer] = []

    /// A container that has begun.
    private struct Open {
        var container: TextContainer
        var difference: TextDifference
        /// The item whose value is read now.
        var item: (lead: Range<Int>, keyEnd: Int, value: Int)
        var fate = TextDifference.Fate.stays
        /// The comment lines above removed items that were not followed by another item yet.
        var orphans: [Range<Int>] = []
        /// The number of added members whose keys are before those of the text so far.
        var nextAdded = 0
        /// Where the added members stand among the parts, if the keys are sorted.
        var places: [Int] = []
        var lastKey: String?
        var isSorted = true
        let addsContainer: Bool
        /// Whether a value that is a container takes more than a line.
        var hasContainerOfLines = false
        var hasEnded: Bool
    }

    /// - Parameter syntax: at the beginning of the text.
    init(_ syntax: any TextSyntax) throws {
        self.syntax = syntax
        form = type(of: syntax).form
        try self.syntax.skipToValue()
    }

    /// Reads the value at the position.
    ///
    /// - Returns: whether it is changed in parts.
    mutating func read(from former: StoredValue, to new: StoredValue) throws -> Bool {
        let start = syntax.position
        guard let root = try open(from: former, to: new, isTop: true) else {
            try syntax.skipValue()
            return false
        }
        // Changed in place, because a copy of a container costs as much as reading an item.
        var stack = [root]
        while true {
            let top = stack.count - 1
            do {
                if !stack[top].hasEnded {
                    if let inner = try readItem(of: &stack[top]) { stack.append(inner) }
                    continue
                }
                try finish(&stack[top])
                containers.append(stack.removeLast().container)
                if stack.isEmpty { return true }
                if case .changes(var change) = stack[top - 1].fate {
                    change.content = containers.count - 1
                    stack[top - 1].fate = .changes(change)
                }
            } catch is OtherForm {
                // The container is written as a whole.
                stack.removeLast()
                syntax.position = stack.last?.item.value ?? start
                try syntax.skipValue()
                if stack.isEmpty { return false }
            }
            try endItem(of: &stack[top - 1])
        }
    }

    /// The text has other keys than the value.
    private struct OtherForm: Error {}

    /// Opens a container that is changed in parts; nil for another value.
    private mutating func open(from former: StoredValue, to new: StoredValue, isTop: Bool = false) throws -> Open? {
        let start = syntax.position
        let difference: TextDifference
        switch (former, new) {
        case (.dictionary(let former), .dictionary(let new))
        where !syntax.isWhole(former, isTop: isTop) && !syntax.isWhole(new, isTop: isTop):
            difference = TextDifference(from: former, to: new)
        case (.array(let former), .array(let new)):
            difference = TextDifference(from: former, to: new)
        default: return nil
        }
        guard let opening = try syntax.open(), opening.isDictionary == difference.isDictionary else {
            syntax.position = start
            return nil
        }
        let end = syntax.position
        let head = opening.isEmptyElement ? end..<end : try syntax.skipRestOfLine()
        let container = TextContainer(
            isDictionary: opening.isDictionary, opening: start..<end, head: head, end: end..<end, closing: end..<end)
        return Open(
            container: container, difference: difference, item: (end..<end, end, end),
            addsContainer: difference.addsContainer, hasEnded: opening.isEmptyElement)
    }

    /// Reads the next item.
    ///
    /// - Returns: its value, if that is a container which is changed in parts.
    private mutating func readItem(of open: inout Open) throws -> Open? {
        let start = syntax.position
        try syntax.skipBlanks()
        let lead = start..<syntax.position
        if try syntax.close() {
            open.container.end = lead
            open.container.closing = lead.upperBound..<syntax.position
            open.hasEnded = true
            return nil
        }
        var keyEnd = syntax.position
        if open.difference.isDictionary {
            try syntax.skipKey()
            keyEnd = syntax.position
            try syntax.skipToMember()
            open.fate = try fate(of: lead.upperBound..<keyEnd, in: &open)
        } else {
            let next = try open.difference.nextElement()
            append(next.added, to: &open)
            open.fate = next.fate
        }
        open.item = (lead, keyEnd, syntax.position)
        if case .changes(let change) = open.fate, let former = change.former, former != change.new,
            let inner = try self.open(from: former, to: change.new)
        {
            return inner
        }
        try syntax.skipValue()
        try endItem(of: &open)
        return nil
    }

    private func fate(of key: Range<Int>, in open: inout Open) throws -> TextDifference.Fate {
        let key = try syntax.key(in: key)
        if !open.difference.added.isEmpty, open.isSorted {
            open.isSorted = open.lastKey.map { $0.precedes(key) } ?? true
            open.lastKey = key
            while open.nextAdded < open.difference.added.count,
                open.difference.added[open.nextAdded].key?.precedes(key) == true
            {
                open.nextAdded += 1
                open.places.append(open.container.parts.count)
            }
        }
        return open.difference.fate(ofKey: key)
    }

    private func append(_ added: [TextDifference.Change], to open: inout Open) {
        for change in added { open.container.parts.append(TextContainer.Part(change: change)) }
    }

    /// Reads what is behind a value, and keeps the item.
    private mutating func endItem(of open: inout Open) throws {
        let value = open.item.value..<syntax.position
        var hasSeparator = false
        if let separator = form.separator {
            try syntax.skipBlanks()
            hasSeparator = syntax.current == separator
        }
        let gap = value.upperBound..<(hasSeparator ? syntax.position : value.upperBound)
        syntax.position = gap.upperBound + (hasSeparator ? 1 : 0)
        let item = TextContainer.Item(
            lead: open.item.lead, keyEnd: open.item.keyEnd, value: value, gap: gap, hasSeparator: hasSeparator,
            tail: try syntax.skipRestOfLine())
        note(item, in: &open)
        keep(item, in: &open)
    }

    private func keep(_ item: TextContainer.Item, in open: inout Open) {
        var change: TextDifference.Change?
        // Taken out instead of copied: a change has a value and a path.
        let fate = open.fate
        open.fate = .stays
        switch fate {
        case .goes:
            if let lines = linesAbove(item), syntax.hasComment(lines) { open.orphans.append(lines) }
            return
        case .changes(let new): change = new
        case .stays:
            let last = open.container.parts.count - 1
            // Items that follow each other are one part, unless something may come between them.
            if last >= 0, open.orphans.isEmpty, open.places.last != last + 1,
                open.container.parts[last].change == nil,
                open.container.parts[last].items?.last.tail.upperBound == item.lead.lowerBound
            {
                open.container.parts[last].items?.last = item
                return
            }
        }
        open.container.parts.append(
            TextContainer.Part(
                items: (item, item), isFirst: open.container.count == 1, change: change, orphans: open.orphans))
        open.orphans = []
    }

    /// Takes an item as a sample of the blanks.
    private func note(_ item: TextContainer.Item, in open: inout Open) {
        let count = open.container.count
        open.container.count += 1
        if count == 0 { open.container.leads.first = item.lead }
        if count == 1 { open.container.leads.second = item.lead }
        open.container.lastHasSeparator = item.hasSeparator
        if open.container.isOneLine, let indentation = syntax.indentation(of: item.lead) {
            (open.container.isOneLine, open.container.indentation) = (false, indentation)
        }
        if open.addsContainer, syntax.hasItems(item.value) {
            open.container.hasContainersOnOneLine = true
            open.hasContainerOfLines = open.hasContainerOfLines || syntax.hasLineEnd(item.value)
        }
        guard open.container.isDictionary else { return }
        let kind = syntax.kind(of: item.value).rawValue
        guard count == 0 || open.container.between[kind] == nil else { return }
        let between = between(item)
        if count == 0 { open.container.firstBetween = between }
        open.container.between[kind] = open.container.between[kind] ?? between
    }

    /// What is between the key and the value of an item; nil if it has a comment, or if no other item is written so.
    private func between(_ item: TextContainer.Item) -> TextForm.Between? {
        let range = item.keyEnd..<item.value.lowerBound
        if syntax.hasComment(range) { return nil }
        guard let indentation = syntax.indentation(of: range) else { return .sameLine(Array(syntax.bytes[range])) }
        guard case .newLine = form.between else { return nil }
        let own = syntax.indentation(of: item.lead) ?? []
        return .newLine(indentation.starts(with: own) ? Array(indentation[own.count...]) : [])
    }

    private func finish(_ open: inout Open) throws {
        guard open.difference.hasHadAllMembers else { throw OtherForm() }
        append(try open.difference.lastElements(), to: &open)
        let added = open.difference.added.map { TextContainer.Part(change: $0) }
        // Behind all parts, unless the keys are sorted.
        let places = open.isSorted ? open.places : []
        if !places.isEmpty {
            let own = open.container.parts
            open.container.parts = []
            var copied = 0
            for (place, part) in zip(places, added) {
                open.container.parts += own[copied..<place]
                open.container.parts.append(part)
                copied = place
            }
            open.container.parts += own[copied...]
        }
        open.container.parts += added.dropFirst(places.count)
        open.container.orphans = open.orphans
        open.container.hasContainersOnOneLine = open.container.hasContainersOnOneLine && !open.hasContainerOfLines
    }

    /// The lines above an item: its blanks and comments up to the last line end outside of a comment, and a comment of
    /// several lines that ends on its line. nil if the item has no line of its own.
    private func linesAbove(_ item: TextContainer.Item) -> Range<Int>? {
        var cursor = syntax
        cursor.position = item.lead.lowerBound
        var end: Int?
        while cursor.position < item.lead.upperBound {
            let byte = cursor.bytes[cursor.position]
            let start = cursor.position
            if byte == form.commentStart, (try? cursor.skipComment()) == true {
                let comment = start..<cursor.position
                if cursor.position < item.lead.upperBound, syntax.hasLineEnd(comment) { end = comment.upperBound }
                continue
            }
            if byte == UInt8(ascii: "\n") { end = cursor.position }
            cursor.position += 1
        }
        guard let end else { return nil }
        let isOfWindows = end > item.lead.lowerBound && syntax.bytes[end - 1] == UInt8(ascii: "\r")
        return item.lead.lowerBound..<(isOfWindows ? end - 1 : end)
    }
}
