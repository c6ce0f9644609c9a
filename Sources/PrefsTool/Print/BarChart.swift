/// Rows of a label, a bar and a figure. The longest bar fills the line.
struct BarChart {
    struct Row {
        let label: String
        let value: Double
        let figure: String
    }

    private let rows: [Row]

    init(_ rows: [Row]) {
        self.rows = rows
    }

    func text(width: Int) -> String {
        let label = rows.map { DisplayWidth.of($0.label) }.max() ?? 0
        let figure = rows.map { DisplayWidth.of($0.figure) }.max() ?? 0
        let longest = max(1, width - label - figure - 6)
        let most = max(rows.map(\.value).max() ?? 0, .leastNormalMagnitude)
        return rows.map { row in
            // What is not zero shows.
            let length = row.value > 0 ? max(1, Int(row.value / most * Double(longest))) : 0
            return "  " + DisplayWidth.spaces(label - DisplayWidth.of(row.label)) + row.label + "  "
                + String(repeating: "#", count: length) + (length > 0 ? " " : "") + row.figure + "\n"
        }.joined()
    }
}
