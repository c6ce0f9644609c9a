/// How much `prefs stress` does.
struct StressPlan {
    let threads: Int
    let processes: Int
    let writes: Int
    let kills: Bool

    init(_ options: Options) throws(UsageError) {
        threads = try options.number(.threads, default: 4, most: 64)
        processes = try options.number(.processes, default: 2, most: 64)
        writes = try options.number(.writes, default: 250, most: 1_000_000)
        kills = options.has(.kill)
    }
}
