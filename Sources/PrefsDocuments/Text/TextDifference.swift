import PrefsPropertyLists

/// What becomes of the items of one container, from its former value to its new one. Asked for each item in the order of
/// the text, so that the text is read once.
struct TextDifference {
    /// An item after the change.
    struct Change {
        /// The step of a path to it; nil for the value at the top.
        let step: PlaceStep?
        /// The key of a new member, and of a member that gets another key.
        var key: String?
        /// nil for a new item.
        var former: StoredValue?
        let new: StoredValue
        /// The index of the container that is changed in parts; nil if the value is written as a whole.
        var content: Int?
    }

    enum Fate {
        case stays, goes
        case changes(Change)
    }

    fileprivate struct Members {
        /// What becomes of the members that do not stay, by their keys in the text.
        var fates: [String: Fate] = [:]
        /// The numbers of members, and of fates, that the text has not had yet.
        var (rest, restOfFates) = (0, 0)
    }

    fileprivate struct Elements {
        let former: [StoredValue]
        let new: [StoredValue]
        /// The elements between the common start and the common end.
        let olds: Range<Int>
        let news: Range<Int>
        /// The elements in these ranges that are removed and added; nil if all are.
        let removed: Set<Int>?
        let inserted: Set<Int>?
        /// The element of the text that comes next, and the new one.
        var old = 0
        var next = 0
    }

    // One of the two, changed in place: each item of the text asks.
    private var members: Members?
    private var elements: Elements?
    /// The new members in the order of their keys.
    let added: [Change]
    let isDictionary: Bool

    /// Whether a container is added.
    var addsContainer: Bool {
        if isDictionary { return added.contains { $0.new.isContainer } }
        return elements.map { $0.new[$0.news].contains(where: \.isContainer) } ?? false
    }

    init(from former: [String: StoredValue], to new: [String: StoredValue]) {
        var members = Members()
        var (added, removed) = ([String: StoredValue](), [String: StoredValue]())
        new.forEachChange(since: former) { key, value, old in
            guard let old else {
                added[key] = value
                return
            }
            let newKey = old.key.hasSameBytes(as: key) ? nil : key
            members.fates[old.key] = .changes(
                Change(step: .key(old.key), key: newKey, former: old.value, new: value))
        } removed: { key, value in
            removed[key] = value
        }
        let renamed = Self.renamed(removed, added)
        for (key, value) in removed {
            members.fates[key] =
                renamed[key].map { .changes(Change(step: .key($0), key: $0, former: value, new: value)) } ?? .goes
        }
        for key in renamed.values { added[key] = nil }
        (members.rest, members.restOfFates) = (former.count, members.fates.count)
        self.members = members
        self.added = added.sortedByBytes.map { Change(step: .key($0.key), key: $0.key, former: nil, new: $0.value) }
        isDictionary = true
    }

    /// The largest number of elements, between the common start and the common end, whose difference is computed.
    private static let mostCompared = 2_000

    /// Equal elements stay. An element that is removed and one that is added in its place count as one element that
    /// changes.
    init(from former: [StoredValue], to new: [StoredValue]) {
        let (start, end) = former.commonEnds(with: new)
        let (olds, news) = (start..<(former.count - end), start..<(new.count - end))
        var (removed, inserted): (Set<Int>?, Set<Int>?)
        if !olds.isEmpty, !news.isEmpty, olds.count + news.count <= Self.mostCompared {
            (removed, inserted) = ([], [])
            for change in new[news].difference(from: former[olds]) {
                switch change {
                case .remove(let offset, _, _): removed?.insert(start + offset)
                case .insert(let offset, _, _): inserted?.insert(start + offset)
                }
            }
        }
        elements = Elements(former: former, new: new, olds: olds, news: news, removed: removed, inserted: inserted)
        added = []
        isDictionary = false
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

    // MARK: - Items

    /// What becomes of the next member of the text.
    mutating func fate(ofKey key: String) -> Fate {
        let fate = members?.fates[key]
        members?.rest -= 1
        members?.restOfFates -= fate == nil ? 0 : 1
        return fate ?? .stays
    }

    /// Whether the text has had as many members as the value, and all that change.
    var hasHadAllMembers: Bool {
        members.map { $0.rest == 0 && $0.restOfFates == 0 } ?? true
    }

    /// The elements that are added before the next one of the text, and what becomes of it.
    ///
    /// - Throws: `TextMismatch` if the value has no more elements.
    mutating func nextElement() throws -> (added: [Change], fate: Fate) {
        guard elements?.isAtEnd == false, let added = elements?.takeAdded(), let fate = elements?.takeFate() else {
            throw TextMismatch()
        }
        return (added, fate)
    }

    /// The elements that are added after the last one of the text.
    ///
    /// - Throws: `TextMismatch` if the value has more elements.
    mutating func lastElements() throws -> [Change] {
        if elements?.isAtEnd == false { throw TextMismatch() }
        return elements?.takeAdded() ?? []
    }
}

extension TextDifference.Elements {
    fileprivate var isAtEnd: Bool { old == former.count }

    private func isRemoved(_ index: Int) -> Bool { olds.contains(index) && removed?.contains(index) ?? true }

    private func isInserted(_ index: Int) -> Bool { news.contains(index) && inserted?.contains(index) ?? true }

    fileprivate mutating func takeAdded() -> [TextDifference.Change] {
        var added: [TextDifference.Change] = []
        while isInserted(next), !isRemoved(old) {
            added.append(TextDifference.Change(step: .index(next), former: nil, new: new[next]))
            next += 1
        }
        return added
    }

    fileprivate mutating func takeFate() -> TextDifference.Fate {
        defer { old += 1 }
        if isRemoved(old), !isInserted(next) { return .goes }
        defer { next += 1 }
        if former[old] == new[next] { return .stays }
        return .changes(TextDifference.Change(step: .index(next), former: former[old], new: new[next]))
    }
}
