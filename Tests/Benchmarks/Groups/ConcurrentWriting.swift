import PersistentPreferences

extension Group {
    /// The times are the seconds from the common start to the end of all threads, divided by the number of writes.
    static let concurrentWriting = Group(
        name: "concurrent-writing", title: "8 threads write a key each, each write durable on return", sample: 0.04,
        rows: [
            Row("write-1", "1 thread, file store") { try writes(threads: 1, to: $0.store("write-1")) },
            Row("write-8", "8 threads, file store", .faster(than: "write-1", atLeast: 3)) {
                try writes(threads: 8, to: $0.store("write-8"))
            },
            Row("write-process-1", "1 thread, durability: .crash") {
                try writes(threads: 1, to: $0.store("write-process-1", .crash))
            },
            Row("write-process-8", "8 threads, durability: .crash", .faster(than: "write-process-1")) {
                try writes(threads: 8, to: $0.store("write-process-8", .crash))
            },
        ])

    private static func writes(threads: Int, to store: PrefsStore) throws -> Operation {
        let prefs = EightPrefs(store: store)
        return .inThreads(threads, verify: prefs.check) { thread, number in
            prefs[ManyKeys.eight[thread]] = number + 1
            return 0
        }
    }
}
