/// A marker protocol, and not a collection: it says that any thread may use the class.
///
/// A subclass of ``PersistentPrefs`` needs it in a module whose default isolation is the main actor. ``Prefs`` combines
/// it with the base class. It has no requirements and changes nothing in a module of another default
/// isolation. It refines `SendableMetatype`. A class that inherits from ``PersistentPrefs`` or `RVS_PersistentPrefs`
/// directly adds it:
///
/// ```swift
/// final class EditorPrefs: PersistentPrefs, PrefsSet, @unchecked Sendable {
///     @Pref var fontSize = 12.0
/// }
/// ```
public protocol PrefsSet: SendableMetatype {}

/// The base class of a set of preferences: ``PersistentPrefs`` in a form that compiles in every module.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref var fontSize = 12.0
/// }
/// ```
///
/// In a module whose default isolation is the main actor, as in Xcode's template for new apps, a class is isolated to
/// the main actor by default. A subclass of ``PersistentPrefs`` must not be isolated, because preferences are read on
/// any thread. ``PrefsSet`` makes it nonisolated. In other modules `Prefs` and ``PersistentPrefs`` are the same base
/// class.
///
/// A class cannot repeat a marker of its superclass. In such a module, give a subclass of a subclass its own marker:
/// `nonisolated protocol Marker: SendableMetatype {}`, then
/// `final class ChildPrefs: EditorPrefs, Marker, @unchecked Sendable`.
///
/// Values are created and decoded on any thread. Types with synthesized Codable conformances work as they are, also in
/// optionals and collections. The compiler rejects a default value from the initializer of a structure that is isolated
/// to the main actor, as in `@Pref var window = Window()`. Declare the structure `nonisolated`, or inside the class of
/// preferences, which is nonisolated. Do the same with a type whose `init(from:)` or `encode(to:)` uses state of the
/// main actor; the compiler does not report that case.
public typealias Prefs = PersistentPrefs & PrefsSet
