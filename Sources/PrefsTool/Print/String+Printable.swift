import PersistentPreferences

extension String {
    /// The text on one line, with control and format characters escaped.
    package var printable: String { ShownText.line(self) }
}
