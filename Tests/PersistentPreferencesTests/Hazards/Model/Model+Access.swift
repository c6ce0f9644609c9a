@testable import PrefsSupport

extension Model {
    /// One access to one root; the key is read once for it.
    struct Access {
        let number: Int
        let root: String
        /// A warning of an access that succeeds.
        var warning: ModelError?
    }

    static func isLegal(_ root: String) -> Bool {
        !root.isEmpty && root.utf8.count <= 1_024 && !root.utf8.contains(0)
            && root.unicodeScalars.first != "\u{FEFF}"
    }

    mutating func report(_ number: Int, _ error: ModelError?, isOfRead: Bool = false) {
        instances[number].lastError = error
        guard let error else { return }
        let isFault = isOfRead && error.isFault
        instances[number].told.append(
            Told(error: error, mayBeMissing: isFault && instances[number].toldFaults.contains(error)))
        if isFault { instances[number].toldFaults.append(error) }
    }

    /// What an instance must have told: what the library has told, if that is all but errors that may be missing.
    func told(_ number: Int, beside found: [ModelError]) -> [ModelError] {
        let told = instances[number].told
        // How many of the found errors the errors so far may be: equal errors cannot be told apart.
        var counts: Set<Int> = [0]
        for told in told {
            let matches = counts.filter { $0 < found.count && found[$0] == told.error }.map { $0 + 1 }
            counts = (told.mayBeMissing ? counts : []).union(matches)
        }
        return counts.contains(found.count) ? found : told.map(\.error)
    }

    // MARK: - Reading

    mutating func read<R>(
        _ number: Int, _ body: (inout Model, inout Access) throws(ModelError) -> R
    ) -> R? {
        var access = Access(number: number, root: instances[number].key)
        do throws(ModelError) {
            guard Self.isLegal(access.root) else { throw .invalidName(access.root) }
            let result = try body(&self, &access)
            report(number, access.warning, isOfRead: true)
            return result
        } catch {
            if let warning = access.warning { report(number, warning, isOfRead: true) }
            report(number, error, isOfRead: true)
            return nil
        }
    }

    /// The current root: the state of the update inside one, otherwise the stored state.
    mutating func look(_ access: inout Access) throws(ModelError) -> Content? {
        let place = place(of: access.number)
        if let transaction, transaction.place == place {
            return try Self.root(access.root, in: transaction.content)
        }
        let former = arrive(access.number)
        access.warning = access.warning ?? self[place].trouble
        remember(place)
        let state = former.map { self[$0].known } ?? self[place].state
        return try Self.root(access.root, in: state?.content)
    }

    /// A good file that was read is known from then on.
    private mutating func remember(_ place: ModelPlace) {
        guard self[place].damage == nil else { return }
        let known = self[place].content.map { ($0, self[place].isXML) }
        self[place].isLost = known == nil && (self[place].isLost || self[place].known != nil)
        self[place].known = known
    }

    private static func root(_ name: String, in content: Content?) throws(ModelError) -> Content? {
        guard let entry = content?[ModelText(name)] else { return nil }
        guard let root = entry.entries else { throw .notDictionary(name) }
        return root
    }

    // MARK: - Writing

    @discardableResult
    mutating func write(
        _ number: Int, from start: Access? = nil, _ body: (inout Model, inout Access) throws(ModelError) -> Void
    ) -> ModelError? {
        var access = start ?? Access(number: number, root: instances[number].key)
        do throws(ModelError) {
            guard Self.isLegal(access.root) else { throw .invalidName(access.root) }
            try body(&self, &access)
            report(number, access.warning)
            return nil
        } catch {
            // A malformed file is reported once.
            if let warning = access.warning, Self.isLegal(access.root), error != .notOurs, error != warning {
                report(number, warning)
            }
            transaction?.fail(error)
            report(number, error)
            return error
        }
    }

    /// Commits a change. An equal write changes nothing, unless the file is damaged: then the acknowledged values must
    /// be stored.
    mutating func commit(_ access: inout Access, _ change: Change) throws(ModelError) {
        let place = place(of: access.number)
        if change.isEmpty {
            let isOwn = transaction?.place == place
            guard !isOwn, self[place].damage != nil else {
                // Another access has repaired the damage that the start of the change in place has met.
                if case .damaged = access.warning { access.warning = nil }
                return
            }
        }
        try transact(&access) { _, root in change.apply(to: &root) }
    }

    /// One transaction on one root, or a part of the current transaction.
    ///
    /// - Parameter replacesOther: whether an entry that is no dictionary counts as missing.
    mutating func transact(
        _ access: inout Access, replacesOther: Bool = false, isExplicit: Bool = false,
        _ body: (inout Model, inout Content?) throws(ModelError) -> Void
    ) throws(ModelError) {
        let place = place(of: access.number)
        if let outer = transaction {
            guard outer.place == place else { throw .otherStore }
            do throws(ModelError) {
                try change(access.root, replacesOther, body)
            } catch {
                transaction?.fail(error)
                throw error
            }
            access.warning = nil
            return
        }
        let isOfFormer = arrive(access.number) != nil && !isExplicit
        if self[place].damage != nil, self[place].lastGood == nil { throw .notOurs }
        // The state of one file must not be written into another one.
        if isOfFormer, let trouble = self[place].trouble { throw trouble }
        remember(place)
        remember(place)
        transaction = Transaction(place: place, content: self[place].state?.content)
        var thrown: ModelError?
        do throws(ModelError) {
            try change(access.root, replacesOther, body)
        } catch {
            thrown = error
        }
        let over = transaction
        transaction = nil
        if let error = thrown ?? over?.failure { throw error }
        access.warning = try over.flatMap { over throws(ModelError) in try store(over) }
    }

    /// - Returns: the warning that a damaged file was quarantined.
    private mutating func store(_ over: Transaction) throws(ModelError) -> ModelError? {
        var content = over.content ?? [:]
        let isXML = self[over.place].state?.isXML ?? self[over.place].newFileIsXML
        if isXML { content = content.mapValues(\.withWholeSeconds) }
        let damage = self[over.place].damage
        guard damage != nil || content != self[over.place].content ?? [:] else { return nil }
        let isLost = over.place.isFile && damage == nil && self[over.place].content == nil && self[over.place].isLost
        let former = self[over.place].state?.content ?? [:]
        if isXML, !ModelValue.dictionary(content).isInXML(replacing: .dictionary(former)) { throw .notInXML }
        if let damage {
            // No bytes are nothing to keep; its last good copy is kept instead.
            if !damage.isEmpty { self[over.place].asides.append(damage) }
            self[over.place].damage = nil
        }
        self[over.place].content = content
        self[over.place].isXML = isXML
        self[over.place].lastGood = (content, isXML)
        self[over.place].known = (content, isXML)
        self[over.place].isLost = false
        self[over.place].revision += 1
        return damage != nil || isLost ? .damaged(isQuarantined: true) : nil
    }

    /// Changes one root of the transaction; nested changes of other keys stay.
    mutating func change(
        _ name: String, _ replacesOther: Bool = false, _ body: (inout Model, inout Content?) throws(ModelError) -> Void
    ) throws(ModelError) {
        let name = ModelText(name)
        let entry = transaction?.content?[name]
        if let entry, entry.entries == nil, !replacesOther {
            var root: Content? = [:]
            try body(&self, &root)
            guard root == nil else { throw .notDictionary(name.text) }
            transaction?.content?[name] = nil
            return
        }
        let before = entry?.entries
        var after = before
        try body(&self, &after)
        guard let after else {
            if before != nil { transaction?.content?[name] = nil }
            return
        }
        let change = Change(from: before ?? [:], to: after)
        if change.isEmpty, before != nil { return }
        var now = transaction?.content?[name]?.entries
        change.apply(to: &now)
        transaction?.set(name, .dictionary(now ?? [:]))
    }
}

extension Model {
    /// The difference between two states of a root.
    struct Change {
        private var assigned: Content = [:]
        private var removed: Set<ModelText> = []

        var isEmpty: Bool { assigned.isEmpty && removed.isEmpty }

        init(from before: Content, to after: Content) {
            assigned = after.filter { before[$0.key] != $0.value }
            removed = Set(before.keys).subtracting(after.keys)
        }

        /// - Parameter allowed: the keys that may be added or changed; nil allows all.
        init(
            from before: Content, to after: [ModelText: ModelInput], _ allowed: Set<String>?
        ) throws(ModelError) {
            var (strange, bad): ([String], [String]) = ([], [])
            for (key, input) in after {
                if let value = input.value, before[key] == value { continue }
                if allowed?.contains(key.text) == false { strange.append(key.text) }
                if input.value == nil { bad.append(key.text) }
            }
            if !strange.isEmpty { throw .incorrectKeys(strange.sorted()) }
            if !bad.isEmpty { throw .incompatible(bad.sorted()) }
            self.init(from: before, to: after.compactMapValues(\.value))
        }

        func apply(to root: inout Content?) {
            var result = root ?? [:]
            for key in removed { result[key] = nil }
            result.merge(assigned) { $1 }
            // A missing root stays missing if there is nothing to add.
            if result != root ?? [:] { root = result }
        }
    }
}
