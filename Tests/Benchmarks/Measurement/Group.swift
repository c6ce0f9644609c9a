/// Rows that are measured in turn, so that other work of the machine affects all of them.
struct Group: Sendable {
    let name: String
    let title: String
    /// The length of one measurement of one row, in seconds.
    var sample = 0.005
    var rows: [Row] = []
    var figures: [FigureRow] = []

    static let all = [
        reading, concurrentReading, singleWriting, writing, concurrentWriting, coding, observing, opening, memory,
    ]

    var listing: String {
        let width = (rows.map(\.name) + figures.map(\.name)).map(\.count).max() ?? 0
        let lines =
            rows.map { "  \($0.name.padded(to: width))  \($0.title)" }
            + figures.map { "  \($0.name.padded(to: width))  \($0.title)" }
        return (["\(name): \(title)"] + lines).joined(separator: "\n")
    }
}

/// The rows of a group that are measured.
struct Selection {
    let group: Group
    let rows: [Row]
    let figures: [FigureRow]

    init(_ group: Group, containing text: String?) {
        self.group = group
        guard let text else {
            rows = group.rows
            figures = group.figures
            return
        }
        let chosen = group.rows.filter { $0.name.contains(text) }
        let needed = Set(chosen.flatMap { [$0.name] + $0.comparisons.flatMap(\.others) })
        rows = group.rows.filter { needed.contains($0.name) }
        figures = group.figures.filter { $0.name.contains(text) }
    }

    var isEmpty: Bool { rows.isEmpty && figures.isEmpty }
}
