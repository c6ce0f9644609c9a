import PersistentPreferences

extension String {
    /// The text on one line, with control and format characters escaped.
    var printable: String { ShownText.line(self) }
}
