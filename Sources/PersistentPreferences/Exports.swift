// The public types of the lower targets belong to this module for every client. Plain `public import` and type aliases
// fail in clients with MemberImportVisibility.
@_exported public import PrefsFileEngine
@_exported public import PrefsPropertyLists
