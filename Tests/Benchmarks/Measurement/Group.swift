/// Rows that are measured in turn, so that other work of the machine affects all of them.
struct Group: Sendable {
    let name: String
    let title: String
    /// The length of one measurement of one row, in seconds.
    var sample = 0.005
    var rows: [Row] = []
    var figures: [FigureRow] = []

    static let all = [
        reading, concurrentReading, singleWriting, writing, concurrentWriting, coding, observing, opening, growth,
        memory,
    ]

    var listing: String {
        let all = rows.map { ($0.name, $0.title) } + figures.map { ($0.name, $0.title) }
        let width = all.map(\.0.count).max() ?? 0
        return (["\(name): \(title)"] + all.map { "  \($0.padded(to: width))  \($1)" }).joined(separator: "\n")
    }

    /// The group with only the rows that have the text in their names, and what they are compared to.
    func rows(containing text: String) -> Group {
        var group = self
        func isChosen(_ name: String) -> Bool { text.isEmpty || name.contains(text) }
        let chosen = rows.filter { isChosen($0.name) }
        let needed = Set(chosen.flatMap { [$0.name] + $0.comparisons.flatMap(\.others) })
        group.rows.removeAll { !needed.contains($0.name) }
        group.figures.removeAll { !isChosen($0.name) }
        return group
    }
}
