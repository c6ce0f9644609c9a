/// How much `prefs stress` does.
struct StressPlan {
    let threads: Int
    let processes: Int
    /// Of each thread.
    let writes: Int
    let kills: Bool

    init(_ options: Options) throws(UsageError) {
        threads = try options.number(.threads, default: 4, maximum: 64)
        processes = try options.number(.processes, default: 2, maximum: 64)
        writes = try options.number(.writes, default: 250, maximum: 1_000_000)
        kills = options.has(.kill)
    }

    var total: Int { threads * processes * writes }

    /// On average, so that each process is killed about ten times; a new one needs some time to start.
    var writesBetweenKills: Int { max(10, total / processes / 10) }
}
