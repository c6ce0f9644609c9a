/// A step from one version of a root to the next: see ``PersistentPrefs/migrations``.
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
    /// The version that the step leads to; 1 or more.
    public let version: Int
    let migrate: @Sendable (inout [String: Any]) throws -> Void

    /// A step to a version, from the one before it in the list, or from 0, which is data without a version.
    ///
    /// - Parameters:
    ///   - version: 1 or more, and higher than that of the step before.
    ///   - migrate: gets all that is stored under the root, keys that are not allowed any more included, and makes of it
    ///     what the version wants. It may run several times on the same state, on any thread, and depends on
    ///     nothing but the values. If it throws, or makes what no property list can hold, nothing is changed.
    public init(to version: Int, _ migrate: @escaping @Sendable (_ values: inout [String: Any]) throws -> Void) {
        self.version = version
        self.migrate = migrate
    }
}
