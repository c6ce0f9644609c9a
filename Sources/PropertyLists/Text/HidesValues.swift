/// A value that does not show all of its contents in `print` and `dump`, because they may be secret or an implementation
/// detail.
package protocol HidesValues: CustomReflectable {
    /// What is shown, by name.
    var shownParts: KeyValuePairs<String, Any> { get }
}

extension HidesValues {
    /// The parts that are shown.
    public var customMirror: Mirror { Mirror(self, children: shownParts, displayStyle: .struct) }
}
