@_exported public import PersistentPreferences

/// The base class under its name in the seed, so that `import RVS_PersistentPrefs` is all that a subclass has to change.
public typealias RVS_PersistentPrefs = PersistentPrefs
