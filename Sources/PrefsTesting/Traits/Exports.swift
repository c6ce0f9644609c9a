// The checks are a target of their own, so that a program may run them without Swift Testing.
@_exported public import PrefsStoreChecks
