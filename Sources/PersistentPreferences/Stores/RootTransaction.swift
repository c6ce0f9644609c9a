import PrefsFileEngine
import PrefsPropertyLists

/// How every store of this package changes one root of the domain that it keeps.
struct RootTransaction {
    let transaction: Transaction
    let root: String
    let layout: DomainLayout

    /// The current entry of the root in the transaction, of any type; nil if there is no entry.
    private var entry: StoredValue? {
        guard layout == .flat else { return transaction[root] }
        return transaction.content.flatMap { $0.isEmpty ? nil : .dictionary($0) }
    }

    private func assign(_ values: [String: StoredValue]?) {
        if layout == .flat {
            transaction.replaceAll(with: values ?? [:])
        } else {
            transaction[root] = values.map(StoredValue.dictionary)
        }
    }

    /// Replaces the root by the result of the body; nil leaves the root unchanged.
    func replace(_ body: ([String: StoredValue]?) throws -> [String: StoredValue]?) throws {
        let before = try layout.dictionary(of: root, in: transaction.content)
        guard let after = try body(before) else { return }
        let isUntouched =
            switch (before, entry) {
            case (nil, nil): true
            case (let before?, .dictionary(let now)?): before.isIdentical(to: now)
            default: false
            }
        // A step of a migration may have written there, too.
        if isUntouched { assign(after) } else { try merge(from: before, to: after) }
    }

    /// Runs the body of an update, and merges its changes into the root. Nested updates may have changed the root in between.
    func update(_ body: (inout [String: StoredValue]?) throws -> Void) throws {
        let entry = entry
        guard entry == nil || entry?.dictionary != nil else {
            // A root that is not a dictionary can only be removed.
            var values: [String: StoredValue]? = [:]
            try body(&values)
            guard values == nil else { throw PrefsError.rootIsNotDictionary(key: root) }
            return assign(nil)
        }
        let before = entry?.dictionary
        var after = before
        try body(&after)
        guard let after else {
            // The body has left the root missing, but a nested update may have written it in between.
            if before != nil, self.entry != nil { assign(nil) }
            return
        }
        try merge(from: before, to: after)
    }

    private func merge(from before: [String: StoredValue]?, to after: [String: StoredValue]) throws {
        let change = RootChange(from: before ?? [:], to: after)
        if change.isEmpty, before != nil || layout == .flat { return }
        var now = entry?.dictionary
        // An empty dictionary is a root, too.
        if try change.apply(to: &now) || now == nil { assign(now ?? [:]) }
    }
}
