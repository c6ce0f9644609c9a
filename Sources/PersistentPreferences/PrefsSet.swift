/// Names a subclass of ``PersistentPrefs`` as usable from any thread in a module whose default isolation is the main
/// actor.
///
/// ``Prefs`` combines it with the base class. It has no requirements. In a module of another default isolation it changes
/// nothing. Mirrors the role of `SendableMetatype`, which it refines.
public protocol PrefsSet: SendableMetatype {}

/// What a set of preferences inherits from: ``PersistentPrefs``, in a form that compiles in every module.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref var fontSize = 12.0
/// }
/// ```
///
/// In a module whose default isolation is the main actor, as in Xcode's template for new apps, a class is isolated to the main
/// actor unless it says otherwise. A subclass of ``PersistentPrefs`` must not be: preferences are read on any thread.
/// ``PrefsSet`` says so. In other modules `Prefs` and ``PersistentPrefs`` are the same base class.
///
/// A subclass of such a class needs a marker of its own there, since it cannot repeat one: `nonisolated protocol Marker:
/// SendableMetatype {}`, then `final class ChildPrefs: EditorPrefs, Marker, @unchecked Sendable`.
///
/// Values are made and decoded on any thread. Types whose coding the compiler synthesizes work as they are, also in optionals
/// and collections. The compiler rejects a default value that is made by a structure's initializer, as in
/// `@Pref var window = Window()`, if the structure is isolated to the main actor: declare the structure `nonisolated`, or
/// inside the class of preferences, where it is nonisolated already. Do the same with a type whose own `init(from:)` or
/// `encode(to:)` uses state of the main actor; the compiler does not report that case.
public typealias Prefs = PersistentPrefs & PrefsSet
