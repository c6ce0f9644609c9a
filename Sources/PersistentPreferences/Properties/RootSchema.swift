import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The shape of a class's root: the version, the migrations that lead to it, and the keys that were renamed.
package struct RootSchema: Sendable {
    /// The key of the version in a root, unless a class names another one. `values` never contains it.
    package static let defaultVersionKey = "PersistentPreferences version"

    package let versionKey: String
    /// The version of a root that has no version key.
    let unmarkedVersion: Int
    private let migrations: [PrefsMigration]
    private let renames: [(key: String, formerKeys: [String])]
    private let formerKeys: [String: [String]]

    /// Creates a schema. Stops the program in two cases: the versions of the migrations do not rise, or no migration
    /// leads to `unmarkedVersion`.
    init(
        migrations: [PrefsMigration], className: String, versionKey: String = defaultVersionKey,
        unmarkedVersion: Int = 0, renames: [(key: String, formerKeys: [String])]
    ) {
        for (version, next) in zip([0] + migrations.map(\.version), migrations.map(\.version)) where next <= version {
            fatalError("\(className): a migration to version \(next) follows version \(version)")
        }
        guard unmarkedVersion == 0 || migrations.contains(where: { $0.version == unmarkedVersion }) else {
            fatalError(
                "\(className): no migration leads to version \(unmarkedVersion), the version of unmarked roots")
        }
        self.migrations = migrations
        (self.versionKey, self.unmarkedVersion) = (versionKey, unmarkedVersion)
        self.renames = renames
        formerKeys = Dictionary(renames) { $0 + $1 }
    }

    /// Whether the class has neither migrations nor renamed keys, so that no root ever changes its shape.
    var isTrivial: Bool { migrations.isEmpty && renames.isEmpty }

    /// Migrates a root to the current version, and renames its keys. An empty root, a root of a newer version and a
    /// root in the current shape stay unchanged.
    ///
    /// - Throws: `PrefsError.migrationFailed`.
    package func current(
        _ stored: [String: StoredValue]?, root: String
    ) throws(PrefsError) -> [String: StoredValue]? {
        guard !isTrivial, let stored, !stored.isEmpty, !isNewer(stored) else { return stored }
        let version = try version(of: stored, root: root)
        var values = stored
        if version < newest { try migrate(&values, from: version, root: root) }
        let migrated = values
        for (key, formerKeys) in renames where migrated.index(forKey: key) == nil {
            guard let former = formerKeys.first(where: { values.index(forKey: $0) != nil }) else { continue }
            values[key] = values[former]
        }
        // Removed only now: two properties may have taken their value from one former key.
        for (key, formerKeys) in renames where migrated.index(forKey: key) == nil {
            for former in formerKeys { values[former] = nil }
        }
        return values
    }

    /// Whether `current(_:root:)` would return the root unchanged. Runs no migration.
    func hasShape(_ stored: [String: StoredValue]?) -> Bool {
        guard !isTrivial, let stored, !stored.isEmpty, !isNewer(stored) else { return true }
        return (try? version(of: stored, root: "")) == newest
            && renames.allSatisfy { key, formerKeys in
                stored.index(forKey: key) != nil || formerKeys.allSatisfy { stored.index(forKey: $0) == nil }
            }
    }

    /// The shape that a write leaves, for observers of some keys. A root of another shape may have the current one, too.
    var shape: SeenMembers.Shape {
        SeenMembers.Shape(
            version: newest == 0 ? nil : (versionKey, newest), formerKeys: renames.flatMap(\.formerKeys))
    }

    /// The values that migrations have added or changed in a root.
    ///
    /// - Parameter current: the result of `current(_:root:)` for the stored root.
    func migrated(_ stored: [String: StoredValue]?, to current: [String: StoredValue]?) -> [String: StoredValue] {
        guard let stored, let current, !stored.isEmpty, !hasVersion(stored) else { return [:] }
        return current.filter { stored[$0] != $1 }
    }

    /// Marks the values of a write with the newest version. A version that is newer still stays.
    func withVersion(_ values: [String: StoredValue]) -> [String: StoredValue] {
        if newest == 0 { return values }
        var values = values
        if let number = values[versionKey].flatMap(Self.number), number >= newest { return values }
        // The newer version may be under the default key, which the class has renamed.
        if values.index(forKey: versionKey) == nil, isNewer(values) { return values }
        values[Self.defaultVersionKey] = nil
        values[versionKey] = StoredValue(newest)
        return values
    }

    /// Extends a change: for each key that it assigns or removes, it also removes the key's former keys. Otherwise a
    /// read would find the old value there again.
    func droppingFormerKeys(_ change: RootChange, of values: [String: StoredValue]?) -> RootChange {
        if formerKeys.isEmpty || isNewer(values) { return change }
        return change.removing { keys in keys.flatMap { formerKeys[$0] ?? [] } }
    }

    /// The stored keys that belong to the class, although no property has them: former keys, and the version key if the
    /// class has migrations.
    package var ownKeys: [String] {
        renames.flatMap(\.formerKeys) + (migrations.isEmpty ? [] : versionKeys)
    }

    /// The keys under which the version may be stored.
    private var versionKeys: [String] {
        versionKey == Self.defaultVersionKey ? [versionKey] : [versionKey, Self.defaultVersionKey]
    }

    /// The entries that a read of a key needs, if the root has the newest version: the key, its former keys, and the
    /// version.
    func keysNeeded(for key: String) -> [String] {
        // The fast path: each read of a key in a flat domain comes here, and most keys have no former keys.
        let former = formerKeys.isEmpty ? nil : formerKeys[key]
        if former == nil, versionKey == Self.defaultVersionKey { return [key, versionKey] }
        return [key] + versionKeys + (former ?? [])
    }

    /// Whether all migrations have been applied to a root. A part of the root is enough if it contains the version.
    func hasVersion(_ part: [String: StoredValue]) -> Bool {
        newest == 0 || (try? version(of: part, root: "")).map { $0 >= newest } ?? false
    }

    /// The stored version of a root; nil if it has none. Looks under the key of the class first, and then under the
    /// default key, because an earlier program may have used that one.
    private func mark(in values: [String: StoredValue]) -> StoredValue? {
        [versionKey, Self.defaultVersionKey].lazy.compactMap { values[$0]?.present() }.first
    }

    /// Whether a root says which version it has.
    package func isMarked(_ values: [String: StoredValue]) -> Bool { mark(in: values) != nil }

    /// Whether a root has a newer version. Such a root stays as it is: a newer program has written it.
    private func isNewer(_ values: [String: StoredValue]?) -> Bool {
        guard let version = values.flatMap(mark) else { return false }
        // A version that is no number: in a class without migrations it counts as newer, so it stays.
        return Self.number(version).map { $0 > newest } ?? migrations.isEmpty
    }

    /// Describes a missing or older version for people: which keys the next write would migrate, or that an
    /// older program may have written the root. nil if there is nothing to say.
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

    /// That a newer version of the class has written the root; nil if none has.
    package func newerVersion(of stored: [String: StoredValue]) -> String? {
        guard mark(in: stored) != nil, let version = try? version(of: stored, root: ""), version > newest else {
            return nil
        }
        return "is \(version), and this program knows versions up to \(newest): a newer one has written the values"
    }

    var newest: Int { migrations.last?.version ?? 0 }

    private func version(of values: [String: StoredValue], root: String) throws(PrefsError) -> Int {
        guard let stored = mark(in: values) else { return unmarkedVersion }
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

    /// The error of a stored version that is not a whole number. Without a version, nobody knows which migrations
    /// to run.
    private struct UnknownVersion: Error, CustomStringConvertible {
        var description: String { "the version stored in the root is not a whole number" }
    }
}

/// A step from one version of a root to the next; see ``PersistentPrefs/migrations``.
///
/// ```swift
/// override class var migrations: [PrefsMigration] {
///     [
///         PrefsMigration(to: 1) { $0["size"] = $0.removeValue(forKey: "fontSize") },
///         PrefsMigration(to: 2) { values in
///             guard let points = values["size"] as? Double else { return }
///             values["size"] = points * 96 / 72
///         },
///     ]
/// }
/// ```
public struct PrefsMigration: Sendable {
    /// The version after the step; 1 or more.
    package let version: Int
    let migrate: @Sendable (inout [String: Any]) throws -> Void

    /// Creates a step to a version, from the version of the previous step or from 0, which stands for data without a
    /// version.
    ///
    /// - Parameters:
    ///   - version: 1 or more, and higher than the version of the previous step.
    ///   - migrate: changes the values under the root to the values of the version. It gets all values, including
    ///     values of keys that are no longer allowed. It may run several times on the same state, on any thread, so it
    ///     must depend only on the values. Nothing changes if it throws, or if a property list cannot hold its result.
    ///     A value in its result that violates the type or a constraint of its property is kept, reads as the default
    ///     and is reported. If the root is stored in a file, the first write of such a result keeps the
    ///     unmigrated file in quarantine, and reports the warning ``PrefsError/quarantined(_:)``.
    public init(to version: Int, _ migrate: @escaping @Sendable (_ values: inout [String: Any]) throws -> Void) {
        self.version = version
        self.migrate = migrate
    }
}
