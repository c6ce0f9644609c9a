import Foundation

extension GroupReport {
    /// The report as a table.
    var table: String {
        var lines = ["\(group): \(title)"]
        for row in rows {
            lines.append("  \(row.name.padded(to: 46))\(Self.time(row.seconds))")
            for ratio in row.ratios {
                let goal = ratio.goal.map { "   goal \($0)" } ?? ""
                lines.append("      \(ratio.title.padded(to: 46))\(Self.text(ratio.ratio, Self.number))\(goal)")
            }
        }
        for figure in figures {
            let goal = figure.goal.map { "   goal \($0)" } ?? ""
            lines.append("  \(figure.title.padded(to: 50))\(Self.number(figure.value)) \(figure.unit)\(goal)")
        }
        lines += leftOut.map { "  \($0.row) is left out: \($0.reason)" }
        return lines.joined(separator: "\n")
    }

    private static func text(_ spread: Spread, _ text: (Double) -> String) -> String {
        "\(text(spread.median)) (\(text(spread.lowerQuartile))–\(text(spread.upperQuartile)))"
    }

    private static func time(_ seconds: Spread) -> String {
        let units = [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")]
        let unit = units.last { seconds.median >= $0.0 } ?? units[0]
        return text(seconds) { number($0 / unit.0) } + " " + unit.1
    }

    /// The number with three significant digits.
    private static func number(_ value: Double) -> String {
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
        return String(format: "%.\(digits)f", value)
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
