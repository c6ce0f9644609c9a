import Foundation

/// The results of a group.
struct GroupReport {
    let group: Group
    /// The seconds of each row that was measured, one number for each round.
    let times: [String: [Double]]
    let figures: [Figure]
    /// The rows that cannot be measured here, with the reasons.
    let leftOut: [String]

    /// The report as a table.
    var table: String {
        var lines = ["\(group.name): \(group.title)"]
        func add(_ title: String, _ width: Int, _ text: String, _ goal: String?) {
            lines.append(title.padded(to: width) + text + (goal.map { "   goal \($0)" } ?? ""))
        }
        for row in group.rows {
            guard let own = times[row.name] else { continue }
            add("  " + row.name, 48, Self.time(Spread(own)), nil)
            for comparison in row.comparisons {
                let others = comparison.others.compactMap { times[$0] }
                guard others.count == comparison.others.count else { continue }
                let ratios = own.indices.map { round in comparison.ratio(own[round], others.map { $0[round] }) }
                add("      " + comparison.title, 52, Self.text(Spread(ratios), Self.number), comparison.goal)
            }
        }
        for figure in figures {
            add("  " + figure.title, 52, "\(Self.number(figure.value)) \(figure.unit)", figure.goal)
        }
        return (lines + leftOut).joined(separator: "\n")
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
