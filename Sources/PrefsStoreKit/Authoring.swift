public import PersistentPreferences
public import PrefsFileEngine
import PrefsPropertyLists

// What a backend needs to check names, to report changes and to throw errors.

extension PrefsError {
    /// Checks a root key, for your own ``PrefsBackend``. Any thread.
    ///
    /// - Throws: ``invalidName(name:reason:)`` if the name is empty, contains a NUL, begins with U+FEFF, or is longer
    ///   than 1,024 bytes.
    public static func checkRootKey(_ name: String) throws(PrefsError) { try NameVetting.checkRoot(name) }

    /// Creates the error of values that your own ``PrefsBackend`` cannot hold, for example because of a limit of its
    /// own. Costs time linear in their number. Any thread.
    ///
    /// - Parameter reasons: the reason for each key, as a clause without a full stop; ``problems`` has them.
    public static func valuesNotPlistCompatible(reasons: [String: String]) -> PrefsError {
        .unsupportedValues(reasons.map { PropertyListFailure(path: $0, topLevelKey: $0, reason: $1) })
    }
}

extension PrefsChange {
    /// Creates the difference between two states of a root, for your own ``PrefsBackend``. Returns nil if they are
    /// equal.
    ///
    /// Values that a write would reject are equal only if they are the same objects. Costs time linear in the number of
    /// keys and in the size of the values, except for values that are the same objects. `count` is the number of changes
    /// that it merges for a slow observer.
    public init?(
        root: String, from before: [String: Any]?, to after: [String: Any]?, origin: Origin, count: Int = 1
    ) {
        let (before, after) = (before ?? [:], after ?? [:])
        /// The values of one state that may differ from the values of the other.
        func values(_ objects: [String: Any], unlike others: [String: Any]) -> [String: StoredValue] {
            objects.filter { key, object in others[key].map { !SharedStorage.areSame($0, object) } ?? true }
                .mapValues { (try? PropertyListVetter.value(of: $0)) ?? .foreign(ForeignObject($0)) }
        }
        let difference = DictionaryDifference(
            from: values(before, unlike: after), to: values(after, unlike: before))
        if difference.isEmpty { return nil }
        self.init(root: root, difference, origin: origin, count: count)
    }
}

extension PrefsObservation {
    /// Creates an observation for your own ``PrefsBackend``. `end` is called once, when the observation ends.
    public convenience init(_ end: @escaping @Sendable () -> Void) { self.init(ending: end) }
}

extension StorageFailure {
    /// Creates a failure that no system call reports, for your own ``PrefsBackend``.
    ///
    /// Disfavored, because code of this package has an initializer with these labels without this product.
    /// - Parameters:
    ///   - path: what could not be read or written, such as the address of a server.
    ///   - reason: the problem, as a clause without a full stop.
    ///   - code: an `errno` such as `ETIMEDOUT`; 0 if no code fits.
    @_disfavoredOverload public init(path: String, reason: String, code: Int32 = 0) {
        self.init(operation: "", path: path, reason: reason, code: code)
    }
}
