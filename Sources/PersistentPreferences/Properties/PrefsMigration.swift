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
    public let version: Int
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
