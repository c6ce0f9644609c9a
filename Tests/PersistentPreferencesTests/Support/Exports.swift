// A file that imports PrefsSupport need not import these.
@_exported public import PropertyListSupport
@_exported public import TestSupport
