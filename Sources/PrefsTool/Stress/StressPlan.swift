/// The parameters of `prefs stress`.
struct StressPlan {
    let threads: Int
    let processes: Int
    /// The number of writes per thread, at most.
    let writes: Int
    /// The time to write; nil if only the number of writes ends the run.
    let seconds: Int?
    /// Where the files are; nil for the temporary folder.
    let folder: String?
    let kills: Bool

    init(_ options: Options) throws(UsageError) {
        threads = try options.number(.threads, default: 4, maximum: 64)
        processes = try options.number(.processes, default: 2, maximum: 64)
        seconds = options.has(.seconds) ? try options.number(.seconds, default: 1, maximum: 86_400) : nil
        folder = options[.folder]
        let most = 1_000_000
        writes = try options.number(.writes, default: seconds == nil ? 250 : most, maximum: most)
        kills = options.has(.kill)
    }

    var total: Int { threads * processes * writes }

    /// The average number of writes between two kills. Each process is killed about ten times, or as often as it comes to.
    var writesBetweenKills: Int { seconds == nil ? max(10, total / processes / 10) : 100 }
}
