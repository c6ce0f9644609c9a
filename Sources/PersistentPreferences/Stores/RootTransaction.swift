import PrefsFileEngine
import PrefsPropertyLists

/// How every store of this package changes one root of the domain that it keeps.
struct RootTransaction {
    let transaction: Transaction
    let root: String
    let layout: DomainLayout

    /// The root as the transaction has left it, whatever it is; nil if there is none.
    private var entry: Any? {
        layout == .flat ? transaction.content.flatMap { $0.isEmpty ? nil : $0 } : transaction[root]
    }

    private func assign(_ values: [String: Any]?) {
        if layout == .flat { transaction.replaceAll(with: values ?? [:]) } else { transaction[root] = values }
    }

    /// Puts what the body makes of the root in its place. It is in canonical form; nil leaves the root as it is.
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

    /// Runs the body of an update and merges the difference that it made into the root, which nested updates may have
    /// changed meanwhile.
    func update(_ body: (inout [String: Any]?) throws -> Void) throws {
        let entry = entry
        guard entry == nil || entry is [String: Any] else {
            // Nothing but its removal may be done to a root that is no dictionary.
            var values: [String: Any]? = [:]
            try body(&values)
            guard values == nil else { throw PrefsError.rootIsNotDictionary(key: root) }
            return assign(nil)
        }
        let before = entry as? [String: Any]
        var after = before
        try body(&after)
        guard let after else {
            // Left as missing as it was, it may have been written by a nested update meanwhile.
            if before != nil, self.entry != nil { assign(nil) }
            return
        }
        try merge(from: before, to: after)
    }

    private func merge(from before: [String: Any]?, to after: [String: Any]) throws {
        let change = try RootChange(from: before ?? [:], to: after)
        if change.isEmpty, before != nil || layout == .flat { return }
        var now = entry as? [String: Any]
        // An empty dictionary where there was nothing is a root too.
        if try change.apply(to: &now) || now == nil { assign(now ?? [:]) }
    }
}
