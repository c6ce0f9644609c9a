import PrefsFileEngine
import PrefsPropertyLists

/// Changes one root in a transaction. Nested accesses of the thread may have changed the root in between.
extension Transaction {
    /// The current entry of a root, of any type; nil if it is missing.
    func entry(of root: String, _ layout: DomainLayout) -> StoredValue? {
        layout.entry(of: root, in: content)
    }

    private func assign(_ values: [String: StoredValue]?, to root: String, _ layout: DomainLayout) {
        if layout == .flat {
            replaceAll(with: values ?? [:])
        } else {
            self[root] = values.map(StoredValue.dictionary)
        }
    }

    /// Replaces a root by a changed copy; nil removes it.
    ///
    /// - Parameter before: the entry that the copy was made from.
    func replace(
        root: String, _ layout: DomainLayout, _ before: StoredValue?, with after: [String: StoredValue]?
    ) throws {
        let now = entry(of: root, layout)
        guard let after else {
            if now != nil { assign(nil, to: root, layout) }
            return
        }
        switch (before, now) {
        case (nil, nil): assign(after, to: root, layout)
        case (let before?, let now?) where before.isIdentical(to: now): assign(after, to: root, layout)
        default: try merge(from: before?.dictionary, to: after, into: root, layout)
        }
    }

    /// Applies a change to a root, in place: an update may have thousands of writes. Replaces an entry that is not a
    /// dictionary.
    func apply(_ change: RootChange, to root: String, _ layout: DomainLayout) throws {
        // All roots of a flat domain are one.
        try changeInPlace(of: layout == .flat ? "" : root) { content, room in
            if layout == .flat { return try change.apply(to: &content, room: &room) }
            let place = content?.index(forKey: root)
            // Taken out for the time, because a dictionary with two owners is copied when it changes.
            var values = place.flatMap { content?.values[$0].takeDictionary() }
            defer {
                if let entry = values.map(StoredValue.dictionary) {
                    if let place {
                        content?.values[place] = entry
                    } else {
                        content = content ?? [:]
                        content?[root] = entry
                    }
                }
            }
            return try change.apply(to: &values, room: &room)
        }
    }

    /// Runs the body of a store's update, and merges its changes into the root.
    func update(
        root: String, _ layout: DomainLayout, _ body: (inout [String: StoredValue]?) throws -> Void
    ) throws {
        let entry = entry(of: root, layout)
        guard entry == nil || entry?.dictionary != nil else {
            // A root that is not a dictionary can only be removed.
            var values: [String: StoredValue]? = [:]
            try body(&values)
            guard values == nil else { throw PrefsError.rootIsNotDictionary(key: root) }
            return assign(nil, to: root, layout)
        }
        let before = entry?.dictionary
        var after = before
        try body(&after)
        guard let after else {
            // The body has set the root to nil, but a nested update may have written it.
            if before != nil, self.entry(of: root, layout) != nil { assign(nil, to: root, layout) }
            return
        }
        try merge(from: before, to: after, into: root, layout)
    }

    private func merge(
        from before: [String: StoredValue]?, to after: [String: StoredValue], into root: String, _ layout: DomainLayout
    ) throws {
        let change = RootChange(from: before ?? [:], to: after)
        if change.isEmpty, before != nil || layout == .flat { return }
        var now = entry(of: root, layout)?.dictionary
        // An empty dictionary is a root, too.
        if try change.apply(to: &now) || now == nil { assign(now ?? [:], to: root, layout) }
    }
}
