/// An operation that is measured.
struct Row: Sendable {
    let name: String
    let title: String
    var comparisons: [Comparison] = []
    /// Prepares the operation and its files.
    let prepare: @Sendable (Place) throws -> Operation

    init(
        _ name: String, _ title: String, _ comparisons: Comparison...,
        prepare: @escaping @Sendable (Place) throws -> Operation
    ) {
        self.init(name, title, comparisons, prepare: prepare)
    }

    init(
        _ name: String, _ title: String, _ comparisons: [Comparison],
        prepare: @escaping @Sendable (Place) throws -> Operation
    ) {
        self.name = name
        self.title = title
        self.comparisons = comparisons
        self.prepare = prepare
    }
}

/// Why a row cannot be measured here.
struct Unavailable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
