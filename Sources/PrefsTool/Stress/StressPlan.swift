/// The parameters of `prefs stress`.
struct StressPlan {
    let threads: Int
    let processes: Int
    /// The number of writes per thread.
    let writes: Int
    let kills: Bool

    init(_ options: Options) throws(UsageError) {
        threads = try options.number(.threads, default: 4, maximum: 64)
        processes = try options.number(.processes, default: 2, maximum: 64)
        writes = try options.number(.writes, default: 250, maximum: 1_000_000)
        kills = options.has(.kill)
    }

    var total: Int { threads * processes * writes }

    /// The average number of writes between two kills. Each process is killed about ten times.
    var writesBetweenKills: Int { max(10, total / processes / 10) }
}
