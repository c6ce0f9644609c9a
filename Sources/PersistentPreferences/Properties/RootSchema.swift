import Foundation
import PrefsPropertyLists

/// The shape of a class's root: the version, the migrations that lead to it, and the keys that were renamed.
package struct RootSchema: Sendable {
    /// The key of the version in a root, unless a class names another one. `values` never contains it.
    package static let defaultVersionKey = "PersistentPreferences version"

    package let versionKey: String
    /// The version of a root without one.
    let versionOfUnmarked: Int
    private let migrations: [PrefsMigration]
    private let renames: [(key: String, formerKeys: [String])]
    private let formerKeys: [String: [String]]

    /// Creates a schema. Stops the program if the versions of the steps do not rise, or if a root without a version would
    /// have one that no step leads to.
    init(
        migrations: [PrefsMigration], className: String, versionKey: String = defaultVersionKey,
        versionOfUnmarked: Int = 0, renames: [(key: String, formerKeys: [String])]
    ) {
        for (version, next) in zip([0] + migrations.map(\.version), migrations.map(\.version)) where next <= version {
            fatalError("\(className): a migration to version \(next) follows version \(version)")
        }
        guard versionOfUnmarked == 0 || migrations.contains(where: { $0.version == versionOfUnmarked }) else {
            fatalError(
                "\(className): no migration leads to version \(versionOfUnmarked), the version of unmarked roots")
        }
        self.migrations = migrations
        (self.versionKey, self.versionOfUnmarked) = (versionKey, versionOfUnmarked)
        self.renames = renames
        formerKeys = Dictionary(renames) { $0 + $1 }
    }

    /// Whether every root has the right shape.
    var isTrivial: Bool { migrations.isEmpty && renames.isEmpty }

    /// A root in the current shape. Returns a root that has this shape, and an empty one, unchanged.
    ///
    /// - Throws: `PrefsError.migrationFailed`.
    func current(_ stored: [String: StoredValue]?, root: String) throws(PrefsError) -> [String: StoredValue]? {
        guard !isTrivial, let stored, !stored.isEmpty else { return stored }
        let version = try version(of: stored, root: root)
        guard !isNewer(stored) else { return stored }
        var values = stored
        if version < newest { try migrate(&values, from: version, root: root) }
        let migrated = values
        for (key, formerKeys) in renames where migrated.index(forKey: key) == nil {
            guard let former = formerKeys.first(where: { values.index(forKey: $0) != nil }) else { continue }
            values[key] = values[former]
        }
        // Renames after the migrations, because two properties may have the same former key.
        for (key, formerKeys) in renames where migrated.index(forKey: key) == nil {
            for former in formerKeys { values[former] = nil }
        }
        return values
    }

    /// Whether `current` returns a root unchanged. Runs no code of the class.
    func hasShape(_ stored: [String: StoredValue]?) -> Bool {
        guard !isTrivial, let stored, !stored.isEmpty, !isNewer(stored) else { return true }
        return (try? version(of: stored, root: "")) == newest
            && renames.allSatisfy { key, formerKeys in
                stored.index(forKey: key) != nil || formerKeys.allSatisfy { stored.index(forKey: $0) == nil }
            }
    }

    /// The values that migrations have moved or created in a root.
    ///
    /// - Parameter current: the result of `current(_:root:)` for the stored root.
    func migrated(_ stored: [String: StoredValue]?, to current: [String: StoredValue]?) -> [String: StoredValue] {
        guard let stored, let current, !stored.isEmpty, !hasVersion(stored) else { return [:] }
        return current.filter { stored[$0] != $1 }
    }

    /// The values with the newest version, for a write. A newer version stays.
    func withVersion(_ values: [String: StoredValue]) -> [String: StoredValue] {
        if newest == 0 { return values }
        var values = values
        if let number = values[versionKey].flatMap(Self.number), number >= newest { return values }
        // A newer version under the former name of the key stays.
        if values.index(forKey: versionKey) == nil, isNewer(values) { return values }
        values[Self.defaultVersionKey] = nil
        values[versionKey] = StoredValue(newest)
        return values
    }

    /// Adds the removal of the former keys of the keys that a change assigns or removes, so that their values do not
    /// come back.
    func droppingFormerKeys(_ change: RootChange, of values: [String: StoredValue]?) -> RootChange {
        if formerKeys.isEmpty || isNewer(values) { return change }
        return change.removing { keys in keys.flatMap { formerKeys[$0] ?? [] } }
    }

    /// The keys that belong to the class but are not allowed keys: former keys, and the version if it has migrations.
    package var ownKeys: [String] {
        renames.flatMap(\.formerKeys) + (migrations.isEmpty ? [] : versionKeys)
    }

    /// The keys under which the version may be stored.
    private var versionKeys: [String] {
        versionKey == Self.defaultVersionKey ? [versionKey] : [versionKey, Self.defaultVersionKey]
    }

    /// The keys on which the value of a key depends, in a root that has the newest version.
    func keysNeeded(for key: String) -> [String] {
        // Each read of a key of a flat domain asks for them, and most keys have no former ones.
        let former = formerKeys.isEmpty ? nil : formerKeys[key]
        if former == nil, versionKey == Self.defaultVersionKey { return [key, versionKey] }
        return [key] + versionKeys + (former ?? [])
    }

    /// Whether all migrations have been applied to a root, given a part of it that contains the version.
    func hasVersion(_ part: [String: StoredValue]) -> Bool {
        newest == 0 || (try? version(of: part, root: "")).map { $0 >= newest } ?? false
    }

    /// The version mark of a root; nil if it has none. A class may have given its key another name since.
    private func mark(in values: [String: StoredValue]) -> StoredValue? {
        [versionKey, Self.defaultVersionKey].lazy.compactMap { values[$0] }.first { !$0.isNull }
    }

    /// Whether a root has a newer version. Such a root must not be tidied up.
    private func isNewer(_ values: [String: StoredValue]?) -> Bool {
        guard let version = values.flatMap(mark) else { return false }
        // A class without migrations never changes the version of another class.
        return Self.number(version).map { $0 > newest } ?? migrations.isEmpty
    }

    /// What a write would do to a root of an older version, or without one; nil if it would only set the version.
    ///
    /// - Parameter current: the result of `current(_:root:)` for the stored root.
    func flawOfVersion(_ stored: [String: StoredValue], current: [String: StoredValue]) -> String? {
        guard newest > 0, !stored.isEmpty, let version = try? version(of: stored, root: "") else { return nil }
        let isMarked = mark(in: stored) != nil
        if version < newest {
            let changed = Set(stored.keys).union(current.keys).filter { stored[$0] != current[$0] }.sorted()
            if changed.isEmpty { return nil }
            let keys = changed.map { "\"\(ShownText.key($0))\"" }.joined(separator: ", ")
            let state = isMarked ? "is \(version), and" : "is missing, so the root is read as version \(version), and"
            return "\(state) the next write migrates \(keys) to version \(newest)"
        }
        if isMarked { return nil }
        let former = renames.flatMap(\.formerKeys).filter { stored.index(forKey: $0) != nil }.sorted()
        if former.isEmpty { return nil }
        return "is missing, and the former key \"\(ShownText.key(former[0]))\" is there: an older program may have "
            + "written the root"
    }

    private var newest: Int { migrations.last?.version ?? 0 }

    private func version(of values: [String: StoredValue], root: String) throws(PrefsError) -> Int {
        guard let stored = mark(in: values) else { return versionOfUnmarked }
        guard let version = Self.number(stored) else {
            throw .migrationFailed(key: root, version: newest, error: UnknownVersion())
        }
        return version
    }

    private func migrate(_ values: inout [String: StoredValue], from version: Int, root: String) throws(PrefsError) {
        let marks = versionKeys.map { ($0, values.removeValue(forKey: $0)) }
        for migration in migrations where migration.version > version {
            do {
                var result: [String: StoredValue]? = values
                try result.change { objects in
                    var after = objects ?? [:]
                    try migration.migrate(&after)
                    objects = after
                }
                values = result ?? [:]
                for key in versionKeys { values[key] = nil }
            } catch {
                throw .migrationFailed(key: root, version: migration.version, error: error)
            }
        }
        for (key, mark) in marks { values[key] = mark }
    }

    private static func number(_ value: StoredValue) -> Int? {
        value.integer(as: Int.self).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The version cannot be read, so it is unknown which migrations to run.
    private struct UnknownVersion: Error, CustomStringConvertible {
        var description: String { "the version stored in the root is not a whole number" }
    }
}
