package import Foundation
package import PrefsFileEngine
package import PrefsPropertyLists

/// A whole domain, entries of any type among its roots: what the harness looks at and edits, through the same engine as the
/// stores, with which it shares locks and cache. Any thread.
package struct PropertyListDomain: Sendable {
    private let roots: Roots
    /// nil if the domain is not a file of ours.
    package let fileURL: URL?

    /// The domain of a UserDefaults suite.
    ///
    /// - Throws: `PrefsError`.
    package init(suiteName: String) throws {
        roots = UserDefaultsStore(suiteName: suiteName).ownRoots
        if let failure = roots.failure { throw failure }
        fileURL = roots.fileURL
    }

    /// A property-list file, or a file of another format.
    ///
    /// - Parameter isForced: whether writes quarantine and replace a file that is not ours. They do so while this exists, in the whole
    ///   process.
    /// - Throws: `PrefsError`.
    package init(url: URL, format: PropertyListFormat = .binary, isForced: Bool = false) throws {
        let location = FileLocation(path: try NameVetting.path(of: url)) { file in
            file.setFormatOfNewFile(format)
            if isForced { file.replaceForeignFile() }
        }
        roots = Roots(location)
        fileURL = url
    }

    /// All entries; nil if there is no domain. For a malformed file, the newest known state and the error that reports
    /// it.
    ///
    /// - Throws: `PrefsError`.
    package func entries() throws -> (entries: [String: StoredValue]?, failure: PrefsError?) {
        let state = try PrefsError.converting { try roots.state(of: .everything) }
        return (state.content, state.warning.map { PrefsError($0) })
    }

    /// If the file is damaged, quarantines it and stores the newest known state. Removes the temporary file of a killed writer. Changes
    /// nothing else.
    ///
    /// - Returns: the warning that describes the recovery; nil if the file was not damaged.
    /// - Throws: `PrefsError`; nothing has changed then.
    package func mend() throws -> PrefsError? {
        try PrefsError.converting { try roots.transact(on: "") { _ in } }
        return roots.takeWarning()
    }

    /// Puts the former bytes of the file back, if it still has the bytes of that commit.
    ///
    /// - Returns: the warning that the file was quarantined; nil if it was not.
    /// - Throws: `PrefsError`; nothing has changed then, unless it is `durabilityUnconfirmed`.
    package func restore(_ replacement: FileReplacement) throws -> PrefsError? {
        guard let location = try roots.reached() as? FileLocation else { return nil }
        try PrefsError.converting { try location.withFile { try $0.restore(replacement) } }
        return roots.takeWarning()
    }

    /// Changes entries in one transaction. Those that are changed are vetted, by name and value.
    ///
    /// - Returns: the warning that a damaged file was quarantined; nil if there was none.
    /// - Throws: what the body throws, else `PrefsError`; nothing has changed then.
    package func update(_ body: (inout [String: StoredValue]) throws -> Void) throws -> PrefsError? {
        try PrefsError.converting {
            try roots.transact(on: "") { transaction in
                let before = transaction.content ?? [:]
                var after = before
                try body(&after)
                let result = try Self.changed(before, to: after)
                for key in before.keys where result.index(forKey: key) == nil { transaction.replace(key, with: nil) }
                for (key, value) in result { transaction.replace(key, with: value) }
            }
        }
        return roots.takeWarning()
    }

    /// The entries that an update from `before` to `after` would store.
    ///
    /// - Throws: `PrefsError` if the update would be rejected.
    package static func changed(
        _ before: [String: StoredValue], to after: [String: StoredValue]
    ) throws -> [String: StoredValue] {
        var result = after
        // Vets only the keys of a root that change, as the base class does.
        for (name, entry) in after {
            guard case .dictionary(let old)? = before[name], case .dictionary(let new) = entry else { continue }
            var root: [String: StoredValue]? = old
            try RootChange(from: old, to: new).checked().apply(to: &root)
            result[name] = root.map(StoredValue.dictionary)
        }
        let others = result.filter { $0.value.dictionary == nil || before[$0.key]?.dictionary == nil }
        let change = try RootChange(from: before, to: others).checked()
        for name in change.assigned.keys { try NameVetting.checkRoot(name) }
        return result
    }
}
