/// Text in aligned columns. Escapes the cells.
struct Table {
    private var rows: [[String]] = []

    mutating func add(_ cells: String...) {
        rows.append(cells.map(\.printable))
    }

    /// Returns the rows. Each column is as wide as its widest cell, and two spaces separate columns. The first row is the head.
    func text(head: Style = .plain) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.filter { $0.count > column }.map { DisplayWidth.of($0[column]) }.max() ?? 0
        }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + DisplayWidth.spaces(width - DisplayWidth.of(cell))
            }
            var line = cells.joined(separator: "  ")
            // Removes scalars: removing characters takes quadratic time if there are many combining marks.
            while line.unicodeScalars.last == " " { line.unicodeScalars.removeLast() }
            return line
        }
        return lines.enumerated().map { ($0 == 0 ? head.bold($1) : $1) + "\n" }.joined()
    }
}
