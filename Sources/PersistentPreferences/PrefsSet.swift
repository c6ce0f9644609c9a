/// Names a subclass of ``PersistentPrefs`` as usable from any thread in a module whose default isolation is the main
/// actor.
///
/// Named beside the base class it keeps the subclass nonisolated there, where it would otherwise be the main actor's and
/// not compile: `final class AppPrefs: PersistentPrefs, PrefsSet, @unchecked Sendable { … }`. It requires nothing;
/// elsewhere it changes nothing. Mirrors the role of `SendableMetatype`, which it refines.
public protocol PrefsSet: SendableMetatype {}
