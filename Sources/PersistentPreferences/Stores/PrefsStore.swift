public import Foundation

/// A place where roots are stored. A ``PersistentPrefs`` instance reads from it and writes to it.
///
/// A class names its store:
///
/// ```swift
/// final class ToolPrefs: Prefs, @unchecked Sendable {
///     @Pref var width = 80
///
///     override class var store: PrefsStore { .propertyList(program: "mytool") }
/// }
/// ```
///
/// The stores of `PersistentPreferences` are ``userDefaults(suite:layout:)``, which is the default,
/// ``propertyList(url:format:durability:layout:protection:)`` and ``memory()``. Other products add functions to this
/// type: see <doc:ChoosingAnAPI>, and <doc:WritingAStore> for a store of your own. A store maps root keys to
/// dictionaries of String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`. `PrefsStoreKit` adds the methods
/// `read`, `update` and `observe`, which access single roots.
///
/// ## Behavior
/// - After an `update`, `read` returns its result, in every thread and through every value for the same place. Stores
///   on one file or one domain are the same place; each call of ``memory()`` makes another one.
/// - Missing is nil; unreadable throws.
/// - `update` is one transaction: N threads that each add 1 to a number M times leave N × M. If it throws before the
///   commit, nothing has changed. An equal update writes nothing.
/// - Accesses nest on one thread. Inside the body of an `update`, accesses to the same store neither block nor commit,
///   and an error in one of them undoes the whole update. An `update` of another store throws
///   ``PrefsError/updateOfAnotherStore``.
///
/// ## Errors
/// A value that a property list cannot hold throws ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and
/// nothing changes.
///
/// ## Threads
/// A value type over a shared place. Any thread may call every method at any time.
public struct PrefsStore: Sendable, HidesValues {
    package let roots: Roots
    let purpose: StorePurpose?

    package init(_ roots: Roots) { (self.roots, purpose) = (roots, nil) }

    init(_ roots: Roots, for purpose: StorePurpose) { (self.roots, self.purpose) = (roots, purpose) }

    /// The file of the store. nil if the store has no file, or cannot be reached. Also nil for `UserDefaults` on Apple
    /// platforms, where a daemon owns the file.
    public var url: URL? { roots.fileURL }

    package var shownParts: KeyValuePairs<String, Any> { ["url": url as Any] }
}
