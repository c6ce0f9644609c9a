extension String {
    /// The text as one line, in which no character can move the cursor.
    var printable: String {
        unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case _ where scalar == "\n": "\\n"
            case _ where scalar == "\t": "\\t"
            case .control, .lineSeparator, .paragraphSeparator: "\\u{" + String(scalar.value, radix: 16) + "}"
            default: String(scalar)
            }
        }.joined()
    }
}
