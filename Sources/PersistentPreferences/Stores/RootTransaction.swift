import PrefsFileEngine
import PrefsPropertyLists

/// How every store of this package changes one root of the domain that it keeps.
struct RootTransaction {
    let transaction: Transaction
    let root: String
    let layout: DomainLayout

    /// The current entry of the root in the transaction, of any type; nil if there is no entry.
    private var entry: Any? {
        layout == .flat ? transaction.content.flatMap { $0.isEmpty ? nil : $0 } : transaction[root]
    }

    private func assign(_ values: [String: Any]?) {
        if layout == .flat { transaction.replaceAll(with: values ?? [:]) } else { transaction[root] = values }
    }

    /// Replaces the root by the result of the body, which is in canonical form; nil leaves the root unchanged.
    func replace(_ body: ([String: Any]?) throws -> [String: Any]?) throws {
        let before = try layout.dictionary(of: root, in: transaction.content)
        guard let after = try body(before) else { return }
        let isUntouched =
            switch (before, entry) {
            case (nil, nil): true
            case (let before?, let now?): CanonicalValue.areIdentical(before, now)
            default: false
            }
        // A step of a migration may have written there, too.
        if isUntouched { assign(after) } else { try merge(from: before, to: after) }
    }

    /// Runs the body of an update, and merges its changes into the root. Nested updates may have changed the root in between.
    func update(_ body: (inout [String: Any]?) throws -> Void) throws {
        let entry = entry
        guard entry == nil || entry is [String: Any] else {
            // A root that is not a dictionary can only be removed.
            var values: [String: Any]? = [:]
            try body(&values)
            guard values == nil else { throw PrefsError.rootIsNotDictionary(key: root) }
            return assign(nil)
        }
        let before = entry as? [String: Any]
        var after = before
        try body(&after)
        guard let after else {
            // The body has left the root missing, but a nested update may have written it in between.
            if before != nil, self.entry != nil { assign(nil) }
            return
        }
        try merge(from: before, to: after)
    }

    private func merge(from before: [String: Any]?, to after: [String: Any]) throws {
        let change = try RootChange(from: before ?? [:], to: after)
        if change.isEmpty, before != nil || layout == .flat { return }
        var now = entry as? [String: Any]
        // An empty dictionary is a root, too.
        if try change.apply(to: &now) || now == nil { assign(now ?? [:]) }
    }
}
