/// The results of a group.
struct GroupReport: Codable {
    struct Row: Codable {
        let name: String
        let title: String
        let seconds: Spread
        let ratios: [Ratio]
    }

    struct Ratio: Codable {
        let title: String
        let goal: String?
        let ratio: Spread
    }

    struct LeftOut: Codable {
        let row: String
        let reason: String
    }

    let group: String
    let title: String
    let rows: [Row]
    let figures: [Figure]
    let leftOut: [LeftOut]

    init(
        _ group: Group, _ rows: [Benchmarks.Row], _ times: [String: [Double]], _ figures: [Figure], leftOut: [LeftOut]
    ) {
        self.group = group.name
        title = group.title
        self.rows = rows.map { row in
            let own = times[row.name] ?? []
            let ratios = row.comparisons.compactMap { comparison -> Ratio? in
                let others = comparison.others.compactMap { times[$0] }
                guard others.count == comparison.others.count else { return nil }
                let ratios = own.indices.map { round in comparison.ratio(own[round], others.map { $0[round] }) }
                return Ratio(title: comparison.title, goal: comparison.goal?.description, ratio: Spread(ratios))
            }
            return Row(name: row.name, title: row.title, seconds: Spread(own), ratios: ratios)
        }
        self.figures = figures
        self.leftOut = leftOut
    }
}
