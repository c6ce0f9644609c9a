/// Text in aligned columns. Escapes the cells.
package struct Table {
    private var rows: [[String]] = []

    package init() {}

    package mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String]) { rows.append(cells.map(\.printable)) }

    /// Returns the rows. Each column is as wide as its widest cell, and two spaces separate columns. The first row is
    /// the head.
    ///
    /// - Parameter width: the number of columns of the terminal; nil to truncate nothing. The last column is truncated
    ///   first, then the widest ones.
    package func text(head: Style = .plain, width: Int? = nil) -> String {
        let columns = rows.map(\.count).max() ?? 0
        var widths = (0..<columns).map { column in
            rows.filter { $0.count > column }.map { DisplayWidth.of($0[column]) }.max() ?? 0
        }
        if let width { narrow(&widths, to: width) }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { DisplayWidth.fitted($0, to: $1) }
            var line = cells.joined(separator: "  ")
            // Removes scalars: removing characters takes quadratic time if there are many combining marks.
            while line.unicodeScalars.last == " " { line.unicodeScalars.removeLast() }
            return line
        }
        return lines.enumerated().map { ($0 == 0 ? head.bold($1) : $1) + "\n" }.joined()
    }

    private func narrow(_ widths: inout [Int], to width: Int) {
        let excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
        guard excess > 0, let last = widths.indices.last else { return }
        widths[last] = max(min(12, widths[last]), widths[last] - excess)
        while widths.reduce(0, +) + 2 * last > width, let widest = widths.max(), widest > 4,
            let index = widths.lastIndex(of: widest)
        {
            widths[index] -= 1
        }
    }
}
