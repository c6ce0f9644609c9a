public import PersistentPreferences

extension PrefOption {
    /// Merges a struct by its fields: `@Pref(.merged) var listen = Listen()`.
    ///
    /// A struct that stands in several layers of a layered store is then merged by the fields that the default stores, also
    /// those of structs in it, from the lowest layer to the highest; each other value counts as a whole. If the parts do not
    /// fit together, those that count least are left out, and ``PersistentPrefs/problems()`` names them. A write stores all
    /// fields, with a marker for each that is nil. Without the option, the struct of the highest layer counts as a whole. Has
    /// no effect on other types, nor on an optional whose default is nil. A read costs a merge and its check whenever a layer or
    /// the store has changed. See <doc:Layers#Sections>.
    public static var merged: PrefOption { .mergedFields }
}
