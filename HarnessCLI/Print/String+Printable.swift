import PersistentPreferences

extension String {
    /// The text as one line that cannot drive a terminal.
    var printable: String { ShownText.line(self) }
}
