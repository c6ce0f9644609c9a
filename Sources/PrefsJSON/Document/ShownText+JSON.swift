import PrefsPropertyLists

extension ShownText {
    /// JSON text that reads as an equal value, for a terminal: the unsafe scalars in its strings have the form
    /// `\u202e`.
    package static func json(_ json: String) -> String {
        replacing(in: json) { isLayout($0) ? nil : JSONEscape.text(of: $0) }
    }
}
