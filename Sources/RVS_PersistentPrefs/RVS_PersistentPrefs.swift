@_exported public import PersistentPreferences

/// The base class with its former name, so that a subclass only has to say `import RVS_PersistentPrefs`.
public typealias RVS_PersistentPrefs = PersistentPrefs
