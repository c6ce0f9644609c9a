import PersistentPreferences

extension Group {
    private static let threads = 8

    /// The times are the seconds from the common start to the end of all threads, divided by the number of reads.
    static let concurrentReading = Group(
        name: "concurrent-reading", title: "one value, 8 threads at once; time by the number of all reads",
        sample: 0.02,
        rows: [
            Row("spin-1", "nothing but the processor, 1 thread") { _ in .inThreads(1) { spin($1) } },
            Row("spin-8", "the same, 8 threads: what the cores give", .faster(than: "spin-1")) { _ in
                .inThreads(threads) { spin($1) }
            },
            Row("bare-read-1", "fstat, lock, lookup and cast, 1 thread") {
                let dictionary = try LockedDictionary(file: $0.file("bare-read-1"))
                return .inThreads(1) { _, _ in dictionary.validatedNumber("x") }
            },
            Row("bare-read-8", "the same, 8 threads, a lock and a file each", .faster(than: "bare-read-1")) { place in
                let dictionaries = try (0..<threads).map { try LockedDictionary(file: place.file("bare-read-8-\($0)")) }
                return .inThreads(threads) { thread, _ in dictionaries[thread].validatedNumber("x") }
            },
            Row("bare-read-shared-8", "the same, 8 threads, one lock and file", .faster(than: "bare-read-1")) {
                let dictionary = try LockedDictionary(file: $0.file("bare-read-shared-8"))
                return .inThreads(threads) { _, _ in dictionary.validatedNumber("x") }
            },
            Row("typed-read-1", "typed read, file store, 1 thread", .times("bare-read-1")) {
                let prefs = try FivePrefs.full(in: $0.store("typed-read-1"))
                return .inThreads(1, verify: prefs.check) { _, _ in prefs.x }
            },
            Row(
                "typed-read-shared-8", "typed read, 8 threads, one instance", .ofWhatTheCoresAllow,
                .times("bare-read-8"), .times("bare-read-shared-8"), .faster(than: "typed-read-1")
            ) {
                let prefs = try FivePrefs.full(in: $0.store("typed-read-shared-8"))
                return .inThreads(threads, verify: prefs.check) { _, _ in prefs.x }
            },
            Row(
                "typed-read-own-8", "typed read, 8 threads, an instance each, one store",
                .ofWhatTheCoresAllow, .times("bare-read-8"), .faster(than: "typed-read-1")
            ) {
                let store = try $0.store("typed-read-own-8")
                let prefs = try (0..<threads).map { _ in try FivePrefs.full(in: store) }
                return .inThreads(threads, verify: { try prefs.forEach { try $0.check() } }) { thread, _ in
                    prefs[thread].x
                }
            },
            Row(
                "typed-read-apart-8", "typed read, 8 threads, an instance and a file each",
                .ofWhatTheCoresAllow, .times("bare-read-8"), .faster(than: "typed-read-1")
            ) { place in
                let prefs = try (0..<threads).map { try FivePrefs.full(in: place.store("typed-read-apart-8-\($0)")) }
                return .inThreads(threads, verify: { try prefs.forEach { try $0.check() } }) { thread, _ in
                    prefs[thread].x
                }
            },
        ])

    /// Some arithmetic that the compiler cannot evaluate.
    private static func spin(_ number: Int) -> Int {
        var state = UInt64(truncatingIfNeeded: number) | 1
        for _ in 0..<200 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
        }
        return Int(truncatingIfNeeded: state)
    }
}

extension Comparison {
    /// Compares with one thread's time, divided by the gain of eight threads of pure arithmetic on these cores.
    fileprivate static let ofWhatTheCoresAllow = Comparison(
        title: "× what the cores allow", others: ["typed-read-1", "spin-1", "spin-8"], goal: "≤ 1.5"
    ) { own, others in own / (others[0] * others[2] / others[1]) }
}
