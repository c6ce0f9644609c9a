import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The whole domain, with entries of any type beside its roots. Shares locks and cache with the stores.
extension Roots {
    /// Opens the domain of a UserDefaults suite.
    ///
    /// - Throws: `PrefsError`.
    static func ofSuite(_ name: String) throws -> Roots {
        let roots = PrefsStore.userDefaults(suite: name).roots
        if let failure = roots.failure { throw failure }
        return roots
    }

    /// Opens a property-list file, or a file of another format.
    ///
    /// - Parameter isForced: whether writes quarantine and replace a file that is not ours. This applies to the whole
    ///   process while the object exists.
    /// - Throws: `PrefsError`.
    convenience init(
        url: URL, format: FileFormat = .binary, isForced: Bool = false
    ) throws {
        self.init(
            FileLocation(path: try NameVetting.path(of: url)) {
                $0.formatOfNewFile = format
                if isForced { $0.replacesForeign += 1 }
            })
    }

    /// All entries, or the values of one root; nil if the domain or the root is missing. For a malformed file, the newest
    /// known state and the error.
    ///
    /// - Throws: `PrefsError`.
    func entries(of root: String? = nil) throws -> (entries: [String: StoredValue]?, failure: PrefsError?) {
        let state = try PrefsError.converting { try self.state(of: root.map(DomainPart.root) ?? .everything) }
        let content = if let root { state.content?[root]?.dictionary } else { state.content }
        return (content, state.warning.map { PrefsError($0) })
    }

    /// If the file is damaged, quarantines it and stores the newest known state. Removes the temporary file of a killed
    /// writer. Changes nothing else.
    ///
    /// - Returns: the warning that describes the recovery; nil if the file was not damaged.
    /// - Throws: `PrefsError`; nothing has changed then.
    func mend() throws -> PrefsError? {
        try PrefsError.converting { try transact(on: "") { _ in } }
        return takeWarning()
    }

    /// Restores the former bytes of the file, if it still has the bytes of that commit.
    ///
    /// - Returns: the warning that the file was quarantined; nil if it was not.
    /// - Throws: `PrefsError`; nothing has changed then, unless it is `durabilityUnconfirmed`.
    func restore(_ replacement: FileReplacement) throws -> PrefsError? {
        guard let location = try requiredDomain() as? FileLocation else { return nil }
        try PrefsError.converting {
            try location.withFile { file in
                let locked = try file.beginReplacement()
                defer { locked.end() }
                try locked.revert(replacement)
            }
        }
        return takeWarning()
    }

    /// Changes entries, or the values of one root, in one transaction. The names and values of changed entries are
    /// vetted. A root without values is removed.
    ///
    /// - Returns: the warning that a damaged file was quarantined; nil if no file was.
    /// - Throws: what the body throws, or `PrefsError`. In both cases nothing has changed.
    func updateEntries(
        of root: String? = nil, _ body: (inout [String: StoredValue]) throws -> Void
    ) throws -> PrefsError? {
        try PrefsError.converting {
            if let root {
                return try transact(on: root) { transaction in
                    let before = transaction[root]?.dictionary ?? [:]
                    var after = before
                    try body(&after)
                    try Self.check(before, to: after, isRoot: true)
                    transaction.replace(root, with: after.isEmpty ? nil : .dictionary(after))
                }
            }
            try transact(on: "") { transaction in
                let before = transaction.content ?? [:]
                var after = before
                try body(&after)
                // A second copy of many entries takes time and memory.
                if try Self.check(before, to: after, isJSON: hasNulls) { transaction.replaceAll(with: after) }
            }
        }
        return takeWarning()
    }

    /// Vets an update from `before` to `after`, as the base class does: of a root, only the changed keys.
    ///
    /// - Parameters:
    ///   - isRoot: whether they are the values of one root.
    ///   - isJSON: whether they are of a JSON file, which may have any key at its top.
    /// - Returns: whether they differ.
    /// - Throws: `PrefsError` if the update would be rejected.
    @discardableResult
    static func check(
        _ before: [String: StoredValue], to after: [String: StoredValue], isRoot: Bool = false,
        isJSON: Bool = false
    ) throws -> Bool {
        let change = RootChange(from: before, to: after)
        if isRoot {
            var root: [String: StoredValue]? = before
            return try change.checked().apply(to: &root)
        }
        var others: [String: StoredValue] = [:]
        for (name, entry) in change.assigned {
            guard case .dictionary(let old)? = before[name], case .dictionary(let new) = entry else {
                others[name] = entry
                continue
            }
            try check(old, to: new, isRoot: true)
        }
        _ = try RootChange(from: [:], to: others).checked()
        if !isJSON { for name in others.keys { try NameVetting.checkRoot(name) } }
        return !change.isEmpty
    }
}
