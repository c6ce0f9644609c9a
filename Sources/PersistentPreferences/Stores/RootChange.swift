import PrefsFileEngine
import PrefsPropertyLists

/// A write to one root: the keys that it adds or changes with their new values, and the keys that it removes. Other
/// keys are neither vetted nor changed.
package struct RootChange {
    package private(set) var assigned: [String: StoredValue] = [:]
    /// The former values of keys that are known to change.
    private var replaced: [String: StoredValue] = [:]
    package private(set) var removed: [String] = []
    /// Whether it assigns a value that does not fit its property, because the property cannot read the former one.
    var replacesUnreadable = false

    package var isEmpty: Bool { assigned.isEmpty && removed.isEmpty }

    static var nothing: RootChange { RootChange(from: [:], to: [:]) }

    /// Whether the new value of a key was made from this former value.
    func isMade(of former: StoredValue?, forKey key: String) -> Bool {
        switch (replaced[key], former) {
        case (nil, nil): true
        case (let replaced?, let former?): replaced.isIdentical(to: former)
        default: false
        }
    }

    /// The former value of a key that is known to change.
    func former(of key: String) -> StoredValue? { replaced[key] }

    /// The difference between two values of one key.
    package init(of key: String, from before: StoredValue?, to after: StoredValue?) {
        if let after {
            assign(after, to: key, inPlaceOf: before)
        } else if before != nil {
            removed = [key]
        }
    }

    /// The difference between two states of a root.
    package init(from before: [String: StoredValue], to after: [String: StoredValue]) {
        after.forEachChange(since: before) { key, value, former in
            assign(value, to: key, inPlaceOf: former?.value)
        } removed: { key, _ in
            removed.append(key)
        }
    }

    /// The difference between a root and a user's changed copy of its objects, vetted.
    ///
    /// - Parameters:
    ///   - before: the root as stored.
    ///   - shown: the objects of `before` that the user started from.
    ///   - after: the user's result.
    ///   - allowed: the keys that may be added or changed; nil allows all.
    /// - Throws: `PrefsError.incorrectKeys`, otherwise `PrefsError.valuesNotPlistCompatible`. The error names every
    ///   invalid key.
    package init(
        from before: [String: StoredValue], shownAs shown: [String: Any], to after: [String: Any],
        allowed: AllowedKeys? = nil
    ) throws(PrefsError) {
        var disallowed: [String] = []
        var failures: [PropertyListFailure] = []
        for (key, object) in after {
            // Checked before the key is hashed.
            guard StreamSafeText.isSafe(key) else { throw Self.unsafe(key) }
            if let old = shown[key], SharedStorage.areSame(old, object) { continue }
            let change = assigned.count
            do throws(ValueMismatch) {
                assign(try PropertyListVetter.value(of: object), to: key, inPlaceOf: before[key])
                if assigned.count == change { continue }
            } catch {
                failures += error.failures(forKey: key)
            }
            if allowed?.contains(key) == false { disallowed.append(key) }
        }
        if let allowed, !disallowed.isEmpty { throw .incorrectKeys(disallowed, among: allowed.list) }
        if !failures.isEmpty { throw .unsupportedValues(failures) }
        for key in shown.keys where after.index(forKey: key) == nil { removed.append(key) }
    }

    private mutating func assign(_ value: StoredValue, to key: String, inPlaceOf old: StoredValue?) {
        if old == value { return }
        assigned[key] = value
        replaced[key] = old
    }

    /// Returns the change if a property list can hold all values that it assigns.
    ///
    /// - Throws: `PrefsError.valuesNotPlistCompatible`, which names every invalid value.
    package func checked() throws(PrefsError) -> RootChange {
        var failures: [PropertyListFailure] = []
        for (key, value) in assigned {
            guard StreamSafeText.isSafe(key) else { throw Self.unsafe(key) }
            do throws(ValueMismatch) {
                try PropertyListVetter.check(value)
            } catch {
                failures += error.failures(forKey: key)
            }
        }
        if !failures.isEmpty { throw .unsupportedValues(failures) }
        return self
    }

    /// - Throws: `PrefsError.valuesNotPlistCompatible` if a key would take more than linear time to hash.
    static func checkKeys(of values: [String: Any]) throws(PrefsError) {
        for key in values.keys where !StreamSafeText.isSafe(key) { throw unsafe(key) }
    }

    private static func unsafe(_ key: String) -> PrefsError {
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(40)))
        return .unsupportedValues([
            PropertyListFailure(path: start, topLevelKey: start, reason: StreamSafeText.reason)
        ])
    }

    /// Returns this change with the removal of more keys, which the closure derives from the assigned and removed keys.
    func removing(_ others: ([String]) -> [String]) -> RootChange {
        var change = self
        change.removed += others(Array(assigned.keys) + removed)
        return change
    }

    /// Returns this change with other values for the keys that it assigns.
    func mapAssigned(_ value: (String, StoredValue) -> StoredValue) -> RootChange {
        var change = self
        change.replaced = [:]
        for (key, own) in assigned { change.assigned[key] = value(key, own) }
        return change
    }

    /// Applies the change to the current root, which may be newer than the state that the change was computed from.
    /// Changes the dictionary in place; costs the size of the change, and that of the root if `room` is nil.
    ///
    /// - Parameter room: by how many bytes the root may grow; nil if it must be measured. Afterwards, by how many it
    ///   may still grow, if that is known.
    /// - Returns: whether the root has changed. If it has not, a missing root stays missing.
    /// - Throws: `PrefsError.valuesNotPlistCompatible` if the root would become too large.
    @discardableResult
    package func apply(to root: inout [String: StoredValue]?, room: inout Int?) throws(PrefsError) -> Bool {
        // A root that another program has made larger may still shrink.
        if let free = room {
            let growth = growth(of: root)
            if growth > max(0, free) { throw tooLarge }
            room = free - growth
        } else if !assigned.allSatisfy({ isNoLarger($1, than: root?[$0]) }) {
            let free = PropertyListLimits.rootBytes - bytes(after: root)
            if free < 0, growth(of: root) > 0 { throw tooLarge }
            room = free
        }
        var isDifferent = false
        for key in removed where root?.removeValue(forKey: key) != nil {
            isDifferent = true
        }
        for (key, value) in assigned {
            if let old = root?[key], replaced[key]?.isIdentical(to: old) != true, old == value { continue }
            if root == nil { root = [:] }
            root?[key] = value
            isDifferent = true
        }
        return isDifferent
    }

    /// As `apply(to:room:)`, for one change.
    @discardableResult
    package func apply(to root: inout [String: StoredValue]?) throws(PrefsError) -> Bool {
        var room: Int?
        return try apply(to: &root, room: &room)
    }

    /// False for a container, because two of them take longer to measure than most roots.
    private func isNoLarger(_ value: StoredValue, than former: StoredValue?) -> Bool {
        guard let former, !value.isContainer, !former.isContainer else { return false }
        return value.estimatedBytes <= former.estimatedBytes
    }

    /// The estimated size of a root after the change.
    private func bytes(after root: [String: StoredValue]?) -> Int {
        let root = root ?? [:]
        let kept = root.reduce(0) { sum, member in
            assigned[member.key] == nil ? sum + .estimatedBytes(of: member.value, forKey: member.key) : sum
        }
        return kept + assigned.estimatedBytes - bytes(of: removed.filter { assigned[$0] == nil }, in: root)
    }

    /// By how many bytes a root would grow.
    private func growth(of root: [String: StoredValue]?) -> Int {
        let root = root ?? [:]
        let former = bytes(of: assigned.keys, in: root) + bytes(of: removed.filter { assigned[$0] == nil }, in: root)
        return assigned.reduce(-former) { $0 + .estimatedBytes(of: $1.value, forKey: $1.key) }
    }

    private func bytes(of keys: some Sequence<String>, in root: [String: StoredValue]) -> Int {
        keys.reduce(0) { sum, key in root[key].map { sum + .estimatedBytes(of: $0, forKey: key) } ?? sum }
    }

    private var tooLarge: PrefsError {
        .unsupportedValues(
            assigned.keys.map {
                PropertyListFailure(
                    path: $0, topLevelKey: $0,
                    reason: "the root would be larger than \(PropertyListLimits.rootBytes >> 20) MiB")
            })
    }
}

extension [String: StoredValue]? {
    /// Lets a user change the objects of a root. Changed values are vetted.
    package mutating func change(_ body: (inout [String: Any]?) throws -> Void) throws {
        let shown = self?.objects
        var after = shown
        try body(&after)
        guard let after else {
            self = nil
            return
        }
        let change = try RootChange(from: self ?? [:], shownAs: shown ?? [:], to: after)
        self = self ?? [:]
        try change.apply(to: &self)
    }
}

// MARK: - In a transaction

/// Changes one root in a transaction. Nested accesses of the thread may have changed the root in between.
extension Transaction {
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
        let now = layout.entry(of: root, in: content)
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
        let entry = layout.entry(of: root, in: content)
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
            if before != nil, layout.entry(of: root, in: content) != nil { assign(nil, to: root, layout) }
            return
        }
        try merge(from: before, to: after, into: root, layout)
    }

    private func merge(
        from before: [String: StoredValue]?, to after: [String: StoredValue], into root: String, _ layout: DomainLayout
    ) throws {
        let change = RootChange(from: before ?? [:], to: after)
        if change.isEmpty, before != nil || layout == .flat { return }
        var now = layout.entry(of: root, in: content)?.dictionary
        // An empty dictionary is a root, too.
        if try change.apply(to: &now) || now == nil { assign(now ?? [:], to: root, layout) }
    }
}
