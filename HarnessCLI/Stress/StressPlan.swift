import PrefsTool

/// The parameters of `prefs stress`.
struct StressPlan {
    static let options = [threads, processes, writes, seconds, folder, kill]
    private static let threads = OptionSpec(name: "--threads", valueName: "N", summary: "threads per process (4)")
    private static let processes = OptionSpec(name: "--processes", valueName: "P", summary: "number of processes (2)")
    private static let writes = OptionSpec(name: "--writes", valueName: "W", summary: "writes per thread (250)")
    private static let seconds = OptionSpec(
        name: "--seconds", valueName: "S", summary: "write for so long, instead of a number of writes")
    private static let folder = OptionSpec(
        name: "--dir", valueName: "PATH", summary: "work in this folder, and so on its file system")
    private static let kill = OptionSpec(
        name: "--kill", summary: "kill processes at random moments, and restart them")

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
        threads = try options.number(Self.threads, default: 4, maximum: 64)
        processes = try options.number(Self.processes, default: 2, maximum: 64)
        seconds = options.has(Self.seconds) ? try options.number(Self.seconds, default: 1, maximum: 86_400) : nil
        writes = try options.number(Self.writes, default: seconds == nil ? 250 : 1_000_000, maximum: 1_000_000)
        (folder, kills) = (options[Self.folder], options.has(Self.kill))
    }

    var total: Int { threads * processes * writes }
}
