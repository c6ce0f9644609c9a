/// Something that is counted and not timed.
struct FigureRow: Sendable {
    let name: String
    let title: String
    let count: @Sendable (Place) throws -> [Figure]

    init(_ name: String, _ title: String, count: @escaping @Sendable (Place) throws -> [Figure]) {
        self.name = name
        self.title = title
        self.count = count
    }
}

struct Figure {
    let title: String
    let value: Double
    let unit: String
    var goal: String?
}
