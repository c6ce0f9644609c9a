// The checks have their own target, so that a program may run them without Swift Testing.
@_exported public import PrefsStoreChecks
