import Foundation
import PersistentPreferences

/// Text in aligned columns. Escapes the cells.
package struct Table {
    private var rows: [[String]] = []

    package init() {}

    package mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String]) { rows.append(cells.map(\.printable)) }

    /// Returns the rows. Each column but the last is as wide as its widest cell, and two spaces separate columns. The
    /// first row is the head.
    ///
    /// - Parameter width: the number of columns of the terminal; nil to truncate nothing. The last column, which has the
    ///   values, is truncated to a third of it at most, then the widest of the others.
    package func text(head: Style = .plain, width: Int? = nil) -> String {
        let columns = rows.map(\.count).max() ?? 0
        // The width of the last column counts on a terminal only. A pipe may get values of any length.
        var widths = (0..<max(0, columns - (width == nil ? 1 : 0))).map { column in
            rows.filter { $0.count > column }.map { DisplayWidth.of($0[column]) }.max() ?? 0
        }
        if let width { narrow(&widths, to: width) }
        let lines = rows.map { row in
            // Blanks at the end of a line would wrap.
            let cells = row.prefix((row.lastIndex { !$0.isEmpty } ?? -1) + 1)
            return cells.enumerated().map { column, text in
                let text = column < widths.count ? DisplayWidth.truncated(text, to: widths[column]) : text
                return column < cells.count - 1 ? DisplayWidth.padded(text, to: widths[column]) : text
            }.joined(separator: "  ")
        }
        return lines.enumerated().map { ($0 == 0 ? head.bold($1) : $1) + "\n" }.joined()
    }

    private func narrow(_ widths: inout [Int], to width: Int) {
        guard let last = widths.indices.last else { return }
        let room = width - 2 * last
        // A narrow column leaves what it does not need to the others.
        var rest = room - min(widths[last], max(12, width / 3))
        for (order, column) in widths.indices.dropLast().sorted(by: { widths[$0] < widths[$1] }).enumerated() {
            widths[column] = max(1, min(widths[column], rest / (last - order)))
            rest -= widths[column]
        }
        widths[last] = min(widths[last], max(1, room - widths.dropLast().reduce(0, +)))
    }
}

enum TerminalWidth {
    /// The least number of columns for a table of more than keys and values.
    static let ofTables = 72

    /// The number of columns of the terminal that a stream writes to; nil for a pipe or a file, which have no end of
    /// line.
    static func of(_ descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

extension String {
    /// The text on one line, with control and format characters escaped.
    package var printable: String { ShownText.line(self) }
}
