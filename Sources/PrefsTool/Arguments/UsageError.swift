/// Arguments that are not understood. The description is one line, which says how to correct them.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
